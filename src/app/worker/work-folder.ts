import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { FaultError, invalid } from '../../base/fault.ts'
import type { RoomUser } from '../../runtimes/open-runtime.ts'
import { holdFolder } from '../../storage/packs/folder-lock.ts'
import { closedOnTheWay } from './user.ts'

export interface WorkFolder {
  readonly path: string
  release(): void
}

export interface WorkFolderOptions {
  /** The configured folder. */
  readonly named: string | undefined
  readonly dataDir: string
  readonly pid: number
  /** The other user that must reach it. */
  readonly user: RoomUser | undefined
}

/** More workers than run on one machine without configured folders. */
const MOST_UNNAMED = 64
const OPEN_TO_ALL = '/var/tmp'

/** Opens a folder that only this worker uses, and removes files that earlier processes left in it. */
export function holdWorkFolder({ named, dataDir, pid, user }: WorkFolderOptions): WorkFolder {
  if (named !== undefined) return hold(openWay(named, user), pid)
  const isClosed = user !== undefined && closedOnTheWay(dataDir) !== undefined
  const folder = isClosed ? openFolderFor(dataDir) : dataDir
  for (let number = 1; ; number++) {
    try {
      const held = hold(join(folder, `worker-${number}`), pid)
      return isClosed ? { ...held, release: () => removeAll(held) } : held
    } catch (error) {
      const isTaken = error instanceof FaultError && error.fault.kind === 'unavailable' && number < MOST_UNNAMED
      if (!isTaken) throw error
    }
  }
}

/** The worker may change the mode of the folder itself, but not of its parents. */
function openWay(path: string, user: RoomUser | undefined): string {
  make(path)
  if (user === undefined) return path
  if (closedOnTheWay(path) === resolve(path)) chmodSync(path, 0o711)
  const closed = closedOnTheWay(path)
  if (closed === undefined) return path
  throw invalid(
    `worker.host.work_dir: commands run as user ${user.uid}, who cannot get to ${path}, since ${closed} is closed to others. ` +
      'Choose another folder, open that one (chmod o+x), or let commands run as root (worker.host.user = "0")',
  )
}

/**
 * The data directory is closed to other users, as root's is: rooms are then in a folder that other users can reach, for
 * as long as the worker runs.
 */
function openFolderFor(dataDir: string): string {
  const mark = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12)
  const path = join(OPEN_TO_ALL, `windlass-${mark}`)
  make(path)
  const stats = lstatSync(path)
  if (stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0) return path
  throw invalid(`${path} is owned or writable by another user: set worker.host.work_dir to a folder of this user`)
}

/** Removes the folder, because no later process would find it outside the data directory. */
function removeAll({ path, release }: WorkFolder): void {
  release()
  rmSync(path, { recursive: true, force: true })
  try {
    rmdirSync(dirname(path))
  } catch {
    // another worker of the same data directory uses it
  }
}

function hold(path: string, pid: number): WorkFolder {
  make(path)
  return { path, release: holdFolder(path, pid) }
}

function make(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o711 }) // commands of another user must pass through
  } catch (error) {
    throw new FaultError({ kind: 'invalid', what: `worker.host.work_dir: ${(error as Error).message}` }, error)
  }
}
