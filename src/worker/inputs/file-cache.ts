import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, unlinkSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Digest, digestFunctionByName } from '../../base/digest.ts'
import { checkedDigest } from '../../base/digest-text.ts'
import { FileShelf } from './file-shelf.ts'

/**
 * Input files of this worker, each under its digest, to be linked or copied into rooms. A file that is to be executable is
 * another one here: a hard link shares its permissions with all others.
 *
 * What a running attempt has taken hold of stays; of the rest the least recently used go when there is too much. The
 * bound holds for what is not in use.
 */
export interface FileCache {
  readonly folder: string
  readonly shelf: FileShelf
  /** The name of a file on the shelf. */
  keyOf(file: CachedFile): string
  /** Where a file is, or will be. */
  pathOf(file: CachedFile): string
  /** Another name for a file while it is being written. */
  partPath(): string
  /** Takes in a file that was written at `part`, whole and checked. */
  adopt(file: CachedFile, part: string): void
  /**
   * The part of the cache that belongs to one instance. Rooms that are given links share an inode, and with it locks,
   * inotify events and a link count: those must not pass from one instance to another.
   */
  of(instance: string): FileCache
  /** Notes that all is well: without it nothing is believed after the machine has restarted. */
  close(): Promise<void>
}

export interface CachedFile {
  readonly digest: Digest
  readonly executable: boolean
}

const fileKey = ({ digest: { fn, hash, size }, executable }: CachedFile): string =>
  `${fn}/${hash.slice(0, 2)}/${hash}-${size}${executable ? 'x' : ''}`

/** Names of instances are chosen by clients: their hash is safe as the name of a folder. */
const partOf = (instance: string): string =>
  `instance-${createHash('sha256').update(instance).digest('hex').slice(0, 32)}`

/** Changes whenever the machine starts. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id'

export async function openFileCache(folder: string, maxBytes: number): Promise<FileCache> {
  const parts = join(folder, 'parts')
  const boot = await readFile(BOOT_ID, 'utf8').catch(() => 'unknown')
  if (!(await isTrusted(folder, boot))) await rm(folder, { recursive: true, force: true })
  await rm(parts, { recursive: true, force: true })
  await mkdir(parts, { recursive: true, mode: 0o700 })
  await note(folder, { boot, isClean: false })
  const shelf = new FileShelf(maxBytes, (key) => {
    // On the spot: a moment later it may be there again.
    unlinkSync(join(folder, key))
  })
  for (const { key, size } of await found(folder)) shelf.add(key, size)
  let made = 0
  const folders = new Set<string>()
  const below = (prefix: string): FileCache => ({
    folder,
    shelf,
    keyOf: (file) => prefix + fileKey(file),
    pathOf: (file) => join(folder, prefix + fileKey(file)),
    partPath: () => join(parts, `${made++}`),
    adopt(file, part) {
      const path = join(folder, prefix + fileKey(file))
      const parent = dirname(path)
      if (!folders.has(parent)) mkdirSync(parent, { recursive: true })
      folders.add(parent)
      renameSync(part, path)
      shelf.add(prefix + fileKey(file), file.digest.size)
    },
    of: (instance) => below(`${partOf(instance)}/`),
    close: () => note(folder, { boot, isClean: true }),
  })
  return below('')
}

interface Note {
  readonly boot: string
  readonly isClean: boolean
}

/** A file is given its name when it is whole, and that outlives a killed worker, but not a power cut: nothing is synced here. */
async function isTrusted(folder: string, boot: string): Promise<boolean> {
  try {
    const before = JSON.parse(await readFile(join(folder, 'note.json'), 'utf8')) as Note
    return before.isClean || (before.boot === boot && boot !== 'unknown')
  } catch {
    return false
  }
}

const note = (folder: string, what: Note): Promise<void> => writeFile(join(folder, 'note.json'), JSON.stringify(what))

/** Least recently used first: linking a file into a room and taking it out again changes its ctime. */
async function found(folder: string): Promise<{ key: string; size: number }[]> {
  const entries: { key: string; size: number; usedAt: number }[] = []
  for (const name of await readdir(folder, { recursive: true })) {
    const match = /^(?:instance-[0-9a-f]{32}\/)?([a-z0-9]+)\/[0-9a-f]{2}\/([0-9a-f]+)-(\d+)(x?)$/.exec(name)
    const fn = digestFunctionByName(match?.[1] ?? '')
    if (match === null || fn === undefined) continue
    const digest = checkedDigest(fn, match[2] as string, Number(match[3]))
    const { size, ctimeMs, mode } = await stat(join(folder, name))
    const isWhole = size === digest.size && (mode & 0o222) === 0
    if (isWhole) entries.push({ key: name, size, usedAt: ctimeMs })
    else await unlink(join(folder, name))
  }
  return entries.sort((one, other) => one.usedAt - other.usedAt)
}
