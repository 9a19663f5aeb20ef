import { chmodSync, writeFileSync } from 'node:fs'
import { chmod, constants, copyFile, open, rm } from 'node:fs/promises'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { atOnce, Turns } from '../rooms/pacing.ts'
import type { BlobSource } from './blob-source.ts'
import { directoryBatches, wrongBytes } from './directory-cache.ts'
import type { CachedFile, FileCache } from './file-cache.ts'
import { type VouchedBlobs, vouchedBlobs } from './vouched-blobs.ts'

/** Blobs up to this length are read together. */
const SMALL_BYTES = 256 * 1024
const BATCHES_AT_ONCE = 3
const STREAMS_AT_ONCE = 4

export interface FetchTools {
  readonly cache: FileCache
  readonly source: BlobSource
  readonly bulk: BulkPool
}

/** Fetches files into the cache. The caller holds each of them. Resolves with the digests that are absent. */
export interface FileFetch {
  fetch(files: readonly CachedFile[], signal: AbortSignal): Promise<Digest[]>
}

export function fileFetch(tools: FetchTools): FileFetch {
  const { cache } = tools
  const vouched = vouchedBlobs(tools.source)
  /** If several attempts need the same file, one downloads it and the others wait. */
  const underWay = new Map<string, Promise<void>>()
  return {
    async fetch(files, signal) {
      const absent = new Map<string, Digest>()
      const ours = vouched.forTree()
      const isHere = (file: CachedFile): boolean => cache.entries.has(cache.keyOf(file)) && ours.has(file.digest)
      for (;;) {
        const wanted = files.filter((file) => !isHere(file) && !absent.has(formatDigest(file.digest)))
        if (wanted.length === 0) return [...absent.values()]
        signal.throwIfAborted()
        const unverified = wanted.filter((file) => isCached(cache, file) && !ours.has(file.digest))
        if (unverified.length > 0) {
          for (const lost of await ours.check(digestsOf(unverified), signal)) absent.set(formatDigest(lost), lost)
          continue
        }
        const others = wanted.flatMap((file) => underWay.get(cache.keyOf(file)) ?? [])
        const left = wanted.filter((file) => !underWay.has(cache.keyOf(file)))
        if (left.length > 0) {
          const fetched = fetchAll(left, { tools, absent, vouched }, signal)
          const settled = fetched
            .catch(() => {})
            .finally(() => left.forEach((file) => void underWay.delete(cache.keyOf(file))))
          for (const file of left) underWay.set(cache.keyOf(file), settled)
          await fetched
        } else await Promise.race([Promise.all(others), aborted(signal)]) // the next round checks for the file
      }
    },
  }
}

interface Fetching {
  readonly tools: FetchTools
  readonly absent: Map<string, Digest>
  readonly vouched: VouchedBlobs
}

/** Lists each digest once, even if a file is needed in both forms. */
const digestsOf = (files: readonly CachedFile[]): Digest[] => [
  ...new Map(files.map(({ digest }) => [`${digest.fn}/${formatDigest(digest)}`, digest])).values(),
]

/** The file is cached in one of its two forms, executable or not. */
const isCached = (cache: FileCache, file: CachedFile): boolean =>
  cache.entries.has(cache.keyOf(file)) || cache.entries.has(cache.keyOf(twinOf(file)))

async function fetchAll(
  files: readonly CachedFile[],
  { tools, absent, vouched }: Fetching,
  signal: AbortSignal,
): Promise<void> {
  const { cache, source } = tools
  // When a file is needed both writable and read-only, one copy is fetched and the other is copied from it.
  const first = new Map(files.map((file) => [formatDigest(file.digest), file]))
  const wanted = [...first.values()].filter((file) => !cache.entries.has(cache.keyOf(twinOf(file))))
  const [small, large] = [wanted.filter(isSmall(source)), wanted.filter((file) => !isSmall(source)(file))]
  const batches = [
    ...directoryBatches(
      small.map(({ digest }) => digest),
      source.batchBytes,
    ),
  ]
  const missed = (digest: Digest): void => void absent.set(formatDigest(digest), digest)
  const turns = new Turns(signal)
  await atOnce(batches, BATCHES_AT_ONCE, async (batch) => {
    const found = await source.readMany(batch, signal)
    for (const digest of batch) {
      const bytes = found.get(formatDigest(digest))
      if (bytes === undefined) missed(digest)
      else {
        takeWhole(cache, first.get(formatDigest(digest)) as CachedFile, bytes)
        vouched.add(digest)
      }
      await turns.next()
    }
  })
  await atOnce(large, STREAMS_AT_ONCE, async (file) => {
    const pieces = await source.read(file.digest, signal)
    if (pieces === undefined) missed(file.digest)
    else {
      await takePieces(tools, file, pieces)
      vouched.add(file.digest)
    }
  })
  for (const file of files) await copyTwin(cache, file)
}

const isSmall =
  ({ batchBytes }: BlobSource) =>
  ({ digest: { size } }: CachedFile): boolean =>
    size <= Math.min(SMALL_BYTES, batchBytes)

const twinOf = ({ digest, executable }: CachedFile): CachedFile => ({ digest, executable: !executable })

const modeOf = ({ executable }: CachedFile): number => (executable ? 0o555 : 0o444)

function takeWhole(cache: FileCache, file: CachedFile, bytes: Uint8Array): void {
  const { digest } = file
  if (bytes.length !== digest.size || digestOf(digest.fn, bytes).hash !== digest.hash) throw wrongBytes(digest)
  const part = cache.partPath()
  writeFileSync(part, bytes)
  chmodSync(part, modeOf(file)) // independent of the umask
  cache.adopt(file, part)
}

async function takePieces(
  { cache, bulk }: FetchTools,
  file: CachedFile,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { digest } = file
  const part = cache.partPath()
  const inspection = bulk.inspect(digest.fn, 'identity', digest.size)
  try {
    const output = await open(part, 'wx')
    try {
      let size = 0
      for await (const piece of pieces) {
        size += piece.length
        if (size > digest.size) throw wrongBytes(digest)
        await Promise.all([inspection.update(piece), output.writeFile(piece)])
      }
      await output.chmod(modeOf(file))
    } finally {
      await output.close()
    }
    const seen = await inspection.finish()
    if (seen?.size !== digest.size || Buffer.from(seen.hash).toString('hex') !== digest.hash) throw wrongBytes(digest)
    cache.adopt(file, part)
  } catch (error) {
    inspection.cancel()
    await rm(part, { force: true })
    throw error
  }
}

async function copyTwin(cache: FileCache, file: CachedFile): Promise<void> {
  const twin = twinOf(file)
  if (cache.entries.has(cache.keyOf(file)) || !cache.entries.has(cache.keyOf(twin))) return
  cache.entries.hold(cache.keyOf(twin))
  try {
    const part = cache.partPath()
    await copyFile(cache.pathOf(twin), part, constants.COPYFILE_FICLONE)
    await chmod(part, modeOf(file))
    cache.adopt(file, part)
  } finally {
    cache.entries.release(cache.keyOf(twin))
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
