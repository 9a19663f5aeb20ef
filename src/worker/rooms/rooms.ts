import { chownSync, mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { chmod, mkdir, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isRemovedSmall } from '../../runtimes/remove/remove-small.ts'
import { removeTree } from '../../runtimes/remove/remove-tree.ts'
import type { Room } from '../../runtimes/run/runtime.ts'
import { diskFault } from './disk-fault.ts'

/** A room that is removed when its block ends. */
export interface OpenRoom extends Room, AsyncDisposable {}

/** The directories that attempts run in, below one folder of this worker. */
export interface Rooms {
  open(name: string): OpenRoom
  /** Resolves when the files of all closed rooms are removed. */
  cleared(): Promise<void>
}

export interface User {
  readonly uid: number
  readonly gid: number
}

/**
 * The users that rooms belong to. The kernel counts pipe pages, message queues, inotify instances, pending signals and
 * keys per user (user_struct, ucounts), so rooms of one user share these limits.
 */
export interface RoomUsers {
  take(): TakenUser
}

export interface TakenUser {
  /** Undefined for the worker's own user. */
  readonly user: User | undefined
  /** Returns the user, so that another room can take it. */
  release(): void
}

/** One user for all rooms: they share its limits. */
export const sameUser = (user: User | undefined): RoomUsers => ({ take: () => ({ user, release() {} }) })

/** A user for each open room: the lowest id from `first` on that no other open room has. */
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

/** Removes rooms that an earlier process left in the folder: no attempt outlives its worker. */
export async function openRooms(folder: string, users: RoomUsers): Promise<Rooms> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o711) // the command's user must be able to enter, but not to list it
  const real = await realpath(folder)
  for (const name of await readdir(real)) await removeTree(join(real, name))
  const removals = new Set<Promise<void>>()
  let moved = 0
  const remove = async (path: string): Promise<void> => {
    await afterOthers()
    if (isRemovedEmpty(path) || (await isRemovedSmall(path))) return
    // The directory is renamed first, because removing a large tree takes as long as placing it.
    const away = join(real, `.gone-${moved++}`)
    if (isMoved(path, away)) await removeTree(away)
  }
  const close = (path: string, release: () => void): void => {
    // Another room gets the user only when all files of this one are removed.
    const removal: Promise<void> = remove(path).finally(() => {
      release()
      removals.delete(removal)
    })
    removals.add(removal)
    removal.catch(() => {}) // removed with the rest at the next start
  }
  return {
    open(name) {
      const path = join(real, name)
      const { user, release } = users.take()
      try {
        mkdirSync(path, { mode: 0o711 })
        for (const each of PARTS) {
          mkdirSync(join(path, each), { mode: 0o755 })
          if (user !== undefined) chownSync(join(path, each), user.uid, user.gid)
        }
      } catch (error) {
        release()
        throw diskFault(error, 'a room cannot be made')
      }
      const at = { name, path: join(path, 'root'), tmp: join(path, 'tmp'), user }
      return { ...at, [Symbol.asyncDispose]: async () => close(path, release) }
    },
    async cleared() {
      while (removals.size > 0) await Promise.allSettled(removals)
    },
  }
}

const PARTS = ['root', 'tmp'] as const

/** The report of an ended attempt is sent at the end of an event loop turn; removals and new rooms wait for it. */
export const afterOthers = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/**
 * Removes a room that its command left empty, which is the common case; returns false for any other. It needs three
 * system calls, as making the room did.
 */
function isRemovedEmpty(path: string): boolean {
  try {
    for (const each of PARTS) rmdirSync(join(path, each))
    rmdirSync(path)
    return true
  } catch {
    return false
  }
}

/** False when the room's directory was already deleted, for example with the whole folder while its worker ends. */
function isMoved(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw diskFault(error, 'a room cannot be removed')
  }
}
