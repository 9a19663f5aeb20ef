import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, unlinkSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Digest, digestFunctionByName } from '../../base/digest.ts'
import { checkedDigest } from '../../base/digest-text.ts'
import { CacheEntries } from './cache-entries.ts'

/**
 * Input files of this worker, by digest, to be linked or copied into rooms. The executable form of a file is a separate
 * file, because all hard links to a file share its permissions.
 *
 * Files that a running attempt holds are not evicted. Of the others, the least recently used are evicted. The size
 * limit applies to files that are not in use.
 */
export interface FileCache {
  readonly folder: string
  readonly entries: CacheEntries
  /** The key of a file in the index. */
  keyOf(file: CachedFile): string
  /** The path of a file, whether it exists or not. */
  pathOf(file: CachedFile): string
  /** A path for a file while it is being written. */
  partPath(): string
  /** Adds a file that was written to `part`, complete and verified. */
  adopt(file: CachedFile, part: string): void
  /**
   * The part of the cache that belongs to one instance. Rooms with links to a file share its inode, and with it locks,
   * inotify events and the link count. Another instance must not see those.
   */
  of(instance: string): FileCache
  /** Records a clean shutdown. Without that record the cache is discarded after a restart of the machine. */
  close(): Promise<void>
}

export interface CachedFile {
  readonly digest: Digest
  readonly executable: boolean
}

const fileKey = ({ digest: { fn, hash, size }, executable }: CachedFile): string =>
  `${fn}/${hash.slice(0, 2)}/${hash}-${size}${executable ? 'x' : ''}`

/** Clients choose the names of instances; the hash is safe as the name of a folder. */
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
  const entries = new CacheEntries(maxBytes, (key) => {
    // Synchronous: an asynchronous removal could delete a file that was added again.
    unlinkSync(join(folder, key))
  })
  for (const { key, size } of await found(folder)) entries.add(key, size)
  let made = 0
  const folders = new Set<string>()
  const below = (prefix: string): FileCache => ({
    folder,
    entries,
    keyOf: (file) => prefix + fileKey(file),
    pathOf: (file) => join(folder, prefix + fileKey(file)),
    partPath: () => join(parts, `${made++}`),
    adopt(file, part) {
      const path = join(folder, prefix + fileKey(file))
      const parent = dirname(path)
      if (!folders.has(parent)) mkdirSync(parent, { recursive: true })
      folders.add(parent)
      renameSync(part, path)
      entries.add(prefix + fileKey(file), file.digest.size)
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

/**
 * A file is renamed when it is complete. That survives a crash of the worker but not a power loss, because the cache
 * does not call fsync.
 */
async function isTrusted(folder: string, boot: string): Promise<boolean> {
  try {
    const before = JSON.parse(await readFile(join(folder, 'note.json'), 'utf8')) as Note
    return before.isClean || (before.boot === boot && boot !== 'unknown')
  } catch {
    return false
  }
}

const note = (folder: string, what: Note): Promise<void> => writeFile(join(folder, 'note.json'), JSON.stringify(what))

/** Lists the least recently used files first: linking a file into a room and unlinking it changes its ctime. */
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
