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
import { atOnce } from '../rooms/at-once.ts'
import { parentsOf } from '../rooms/checked-path.ts'
import { diskFault } from '../rooms/disk-fault.ts'
import type { User } from '../rooms/room-users.ts'
import { Turns } from '../rooms/turns.ts'
import type { FileCache } from './file-cache.ts'
import type { InputPlan, PlannedFile } from './input-plan.ts'

/**
 * How files get into a room. `link` shares the cache's own file, read-only, with the rooms of one instance: free of cost,
 * and safe only where the command's user is neither root nor the owner of the cache, for those can write in spite of
 * permissions, and would change it for every room to come. `copy` gives each room its own (without copying anything where the file system can share blocks).
 */
export type Placement = 'link' | 'copy'

/** The way that is safe: another user than the worker's own, and not root. */
export const safePlacement = (user: User | undefined, workerUid: number): Placement =>
  user !== undefined && user.uid !== 0 && user.uid !== workerUid ? 'link' : 'copy'

export interface Placing {
  /** The room's root: an empty directory. */
  readonly root: string
  readonly cache: FileCache
  readonly placement: Placement
  /** The user that the command runs as owns the directories; undefined for the worker's own. */
  readonly user: User | undefined
}

export interface RoomContents {
  readonly plan: InputPlan
  readonly inline: readonly InlineFile[]
  /** Files beside those of the plan. */
  readonly placed: readonly PlannedFile[]
  /** Directories that must be there for outputs to be put in. */
  readonly outputParents: readonly string[]
}

const COPIES_AT_ONCE = 8
/** Permissions only: bits that let a program run as somebody else are not a client's to give. */
const PERMISSIONS = 0o777

/**
 * Makes everything in the room. Symlinks come last, so that nothing is ever made through one; a directory
 * for outputs that would lie behind a symlink is left to the command.
 */
export async function placeInputs(contents: RoomContents, placing: Placing, signal: AbortSignal): Promise<void> {
  const { plan, inline } = contents
  const { root } = placing
  const turns = new Turns(signal)
  try {
    await makeDirectories(contents, placing, turns)
    await placeFiles([...plan.files, ...contents.placed], placing, signal)
    for (const { path, contents: bytes, executable } of inline) {
      writeFileSync(join(root, path), bytes, { flag: 'wx', mode: executable ? 0o755 : 0o644 })
      own(join(root, path), placing.user)
    }
    for (const { path, target, properties } of plan.symlinks) {
      symlinkSync(target, join(root, path))
      if (properties?.mtime !== undefined) lutimesSync(join(root, path), ...timesOf(properties.mtime))
      await turns.next()
    }
    // Children first: making what is in a directory changes its time, and its mode may close it.
    for (const { path, properties } of plan.directories.toReversed())
      if (properties !== undefined) setProperties(join(root, path), properties)
  } catch (error) {
    throw diskFault(error, 'the inputs cannot be laid out')
  }
}

async function makeDirectories(contents: RoomContents, { root, user }: Placing, turns: Turns): Promise<void> {
  const { plan, inline, outputParents } = contents
  const symlinks = new Set(plan.symlinks.map(({ path }) => path))
  const isReal = (path: string): boolean => ![...parentsOf(path), path].some((each) => symlinks.has(each))
  const wanted = new Set(plan.directories.map(({ path }) => path))
  for (const file of [...inline, ...contents.placed]) for (const path of parentsOf(file.path)) wanted.add(path)
  for (const path of outputParents.filter(isReal)) for (const each of [...parentsOf(path), path]) wanted.add(each)
  wanted.delete('')
  own(root, user)
  for (const path of wanted) {
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

/** What there are too many links to, or what is on another file system, is copied as well. */
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
  // Where files are copied, one form of each is enough.
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
  // Closed to writing unless the task says otherwise, as files that are linked always are.
  chmodSync(path, (file.executable ? 0o755 : 0o644) & (file.writable === true ? PERMISSIONS : 0o555))
  if (file.properties !== undefined) setProperties(path, file.properties)
}

function setProperties(path: string, { mtime, unixMode }: NodeProperties): void {
  if (mtime !== undefined) utimesSync(path, ...timesOf(mtime))
  if (unixMode !== undefined) chmodSync(path, unixMode & PERMISSIONS)
}

/** As text: Node takes a negative number, a time before 1970, for now. */
function timesOf({ seconds, nanos }: NonNullable<NodeProperties['mtime']>): [atime: string, mtime: string] {
  const time = `${seconds + nanos / 1e9}`
  return [time, time]
}

function own(path: string, user: User | undefined): void {
  if (user !== undefined) chownSync(path, user.uid, user.gid)
}
