export interface User {
  readonly uid: number
  readonly gid: number
}

/**
 * The users that rooms belong to. The kernel counts pipe pages, message queues, inotify instances, pending signals and
 * keys per user (user_struct, ucounts): rooms of one user take them from each other.
 */
export interface RoomUsers {
  take(): TakenUser
}

export interface TakenUser {
  /** Undefined for the worker's own user. */
  readonly user: User | undefined
  /** Lets another room have the user. */
  release(): void
}

/** One user for all rooms: their limits are shared. */
export const sameUser = (user: User | undefined): RoomUsers => ({ take: () => ({ user, release() {} }) })

/** A user for each room that is open, from `first` on: the lowest that no other room has. */
export function userPerRoom(first: number): RoomUsers {
  const taken = new Set<number>()
  return {
    take() {
      let id = first
      while (taken.has(id)) id += 1
      taken.add(id)
      return { user: { uid: id, gid: id }, release: () => void taken.delete(id) }
    },
  }
}
