import { chownSync, mkdirSync, renameSync } from 'node:fs'
import { chmod, mkdir, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isRemovedSmall } from '../../runtimes/remove/remove-small.ts'
import { removeTree } from '../../runtimes/remove/remove-tree.ts'
import type { Room } from '../../runtimes/run/runtime.ts'
import { diskFault } from './disk-fault.ts'
import type { RoomUsers } from './room-users.ts'

/** A room that is gone when its block ends. */
export interface OpenRoom extends Room, AsyncDisposable {}

/** The directories that attempts run in, below one folder of this worker. */
export interface Rooms {
  open(name: string): Promise<OpenRoom>
  /** Resolves when all that was left of closed rooms is gone. */
  cleared(): Promise<void>
}

/** What is in the folder from an earlier life is removed: no attempt outlives its worker. */
export async function openRooms(folder: string, users: RoomUsers): Promise<Rooms> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o711) // the command's user must get through, and has no business looking around
  const real = await realpath(folder)
  for (const name of await readdir(real)) await removeTree(join(real, name))
  const going = new Set<Promise<void>>()
  let gone = 0
  const remove = async (path: string): Promise<void> => {
    await afterOthers()
    if (await isRemovedSmall(path)) return
    // Out of the way; taking it apart takes as long as laying it out did.
    const away = join(real, `.gone-${gone++}`)
    if (isMoved(path, away)) await removeTree(away)
  }
  const close = async (path: string, release: () => void): Promise<void> => {
    // Another room gets the user when nothing of this one is left.
    const removal: Promise<void> = remove(path).finally(() => {
      release()
      going.delete(removal)
    })
    going.add(removal)
    removal.catch(() => {}) // removed with the rest at the next start
  }
  return {
    async open(name) {
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
      return { ...at, [Symbol.asyncDispose]: () => close(path, release) }
    },
    async cleared() {
      while (going.size > 0) await Promise.allSettled(going)
    },
  }
}

const PARTS = ['root', 'tmp'] as const

/** What is told of an attempt that has ended goes first, and is sent at the end of a turn. */
export const afterOthers = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** False when it is gone already, as when somebody takes the whole folder away while its worker still ends. */
function isMoved(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw diskFault(error, 'a room cannot be removed')
  }
}
