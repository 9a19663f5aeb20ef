import {
  chmodSync,
  chownSync,
  constants,
  linkSync,
  lutimesSync,
  mkdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InlineFile } from '../../model/command.ts'
import type { NodeProperties } from '../../model/node-properties.ts'
import { parentsOf } from '../rooms/checked-path.ts'
import { diskFault } from '../rooms/disk-fault.ts'
import { atOnce, Turns } from '../rooms/pacing.ts'
import type { User } from '../rooms/rooms.ts'
import type { FileCache } from './file-cache.ts'
import type { InputPlan, PlannedFile } from './input-plan.ts'

/**
 * How files get into a room. `link` shares the cache's read-only file with the rooms of one instance. It costs almost
 * nothing. It is safe only where the command's user is neither root nor the owner of the cache: those can write despite
 * the permissions, and would change the file for all later rooms. `copy` creates a separate file for each room (file
 * systems with reflinks share the blocks).
 */
export type Placement = 'link' | 'copy'

/** `link` where that is safe: for a user other than the worker's own and root. */
export const safePlacement = (user: User | undefined, workerUid: number): Placement =>
  user !== undefined && user.uid !== 0 && user.uid !== workerUid ? 'link' : 'copy'

export interface Placing {
  /** The room's root: an empty directory. */
  readonly root: string
  readonly cache: FileCache
  readonly placement: Placement
  /** The user that runs the command and owns the directories; undefined for the user of the worker. */
  readonly user: User | undefined
}

export interface RoomContents {
  readonly plan: InputPlan
  readonly inline: readonly InlineFile[]
  /** Files beside those of the plan. */
  readonly placed: readonly PlannedFile[]
  /** Directories that must exist for outputs. */
  readonly outputParents: readonly string[]
}

const COPIES_AT_ONCE = 8
/** Permissions only: clients must not set setuid and setgid bits. */
const PERMISSIONS = 0o777

/**
 * Creates everything in the room. Symlinks are created last, so that nothing is created through one. The command itself
 * creates an output directory behind a symlink.
 */
export async function placeInputs(contents: RoomContents, placing: Placing, signal: AbortSignal): Promise<void> {
  const { plan, inline } = contents
  const { root } = placing
  const files = [...plan.files, ...contents.placed]
  const directories = directoriesOf(contents)
  try {
    if (directories.size > 0) await makeDirectories(directories, placing, signal)
    if (files.length > 0) await placeFiles(files, placing, signal)
    for (const { path, contents: bytes, executable } of inline) {
      writeFileSync(join(root, path), bytes, { flag: 'wx', mode: executable ? 0o755 : 0o644 })
      own(join(root, path), placing.user)
    }
    if (plan.symlinks.length > 0) await placeSymlinks(plan.symlinks, root, signal)
    // Children first: creating entries changes the time of their directory, and its mode may forbid them.
    for (const { path, properties } of plan.directories.toReversed())
      if (properties !== undefined) setProperties(join(root, path), properties)
  } catch (error) {
    throw diskFault(error, 'the inputs cannot be placed')
  }
}

/** The root exists already, and belongs to the user of the room. */
function directoriesOf({ plan, inline, placed, outputParents }: RoomContents): Set<string> {
  const symlinks = new Set(plan.symlinks.map(({ path }) => path))
  const isReal = (path: string): boolean => ![...parentsOf(path), path].some((each) => symlinks.has(each))
  const wanted = new Set(plan.directories.map(({ path }) => path))
  for (const file of [...inline, ...placed]) for (const path of parentsOf(file.path)) wanted.add(path)
  for (const path of outputParents.filter(isReal)) for (const each of [...parentsOf(path), path]) wanted.add(each)
  wanted.delete('')
  return wanted
}

async function makeDirectories(
  paths: ReadonlySet<string>,
  { root, user }: Placing,
  signal: AbortSignal,
): Promise<void> {
  const turns = new Turns(signal)
  for (const path of paths) {
    mkdirSync(join(root, path), { mode: 0o755 })
    own(join(root, path), user)
    await turns.next()
  }
}

async function placeFiles(files: readonly PlannedFile[], placing: Placing, signal: AbortSignal): Promise<void> {
  const { root } = placing
  const turns = new Turns(signal)
  const copies: PlannedFile[] = []
  for (const file of files) {
    if (file.digest.size === 0) makeEmpty(join(root, file.path), file, placing)
    else if (!isLinked(file, placing)) copies.push(file)
    await turns.next()
  }
  await atOnce(copies, COPIES_AT_ONCE, (file) => {
    signal.throwIfAborted()
    return placeCopy(join(root, file.path), file, placing)
  })
}

async function placeSymlinks(symlinks: InputPlan['symlinks'], root: string, signal: AbortSignal): Promise<void> {
  const turns = new Turns(signal)
  for (const { path, target, properties } of symlinks) {
    symlinkSync(target, join(root, path))
    if (properties?.mtime !== undefined) lutimesSync(join(root, path), ...timesOf(properties.mtime))
    await turns.next()
  }
}

/** Errors after which the file is copied: too many links, or another file system. */
const NOT_LINKED = new Set(['EMLINK', 'EXDEV', 'EPERM'])

function isLinked(file: PlannedFile, { root, cache, placement }: Placing): boolean {
  const { path, digest, executable } = file
  // Times and modes are shared by all links.
  if (placement !== 'link' || file.properties !== undefined || file.writable === true) return false
  try {
    linkSync(cache.pathOf({ digest, executable }), join(root, path))
    return true
  } catch (error) {
    if (NOT_LINKED.has((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

async function placeCopy(path: string, file: PlannedFile, { cache, placement, user }: Placing): Promise<void> {
  const { digest, executable } = file
  // For copies the cache holds one form of each file.
  const from = cache.pathOf({ digest, executable: placement === 'link' && executable })
  await copyFile(from, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  finishFile(path, file, user)
}

function makeEmpty(path: string, file: PlannedFile, { user }: Placing): void {
  writeFileSync(path, '', { flag: 'wx' })
  finishFile(path, file, user)
}

function finishFile(path: string, file: PlannedFile, user: User | undefined): void {
  own(path, user)
  // Read-only unless the task requests otherwise, as linked files always are.
  chmodSync(path, (file.executable ? 0o755 : 0o644) & (file.writable === true ? PERMISSIONS : 0o555))
  if (file.properties !== undefined) setProperties(path, file.properties)
}

function setProperties(path: string, { mtime, unixMode }: NodeProperties): void {
  if (mtime !== undefined) utimesSync(path, ...timesOf(mtime))
  if (unixMode !== undefined) chmodSync(path, unixMode & PERMISSIONS)
}

/** Returns times as text: Node replaces a negative number (a time before 1970) by the current time. */
function timesOf({ seconds, nanos }: NonNullable<NodeProperties['mtime']>): [atime: string, mtime: string] {
  const time = `${seconds + nanos / 1e9}`
  return [time, time]
}

function own(path: string, user: User | undefined): void {
  if (user !== undefined) chownSync(path, user.uid, user.gid)
}
