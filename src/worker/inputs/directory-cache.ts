import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { Directory } from '../../model/directory.ts'
import { directoryFromProto } from '../../wire/reapi/directory.ts'
import type { BlobSource } from './blob-source.ts'

/** The limit of one Directory message: about 500,000 files. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_A_BATCH = 500

/**
 * Directory messages that were fetched and verified before. The input trees of a build's actions differ in a few files,
 * so the directories of toolchains are not fetched and decoded again.
 */
export interface DirectoryCache {
  /** By `formatDigest`, without the absent ones. */
  get(digests: readonly Digest[], signal: AbortSignal): Promise<ReadonlyMap<string, Directory>>
}

export function directoryCache(source: BlobSource, maxBytes: number): DirectoryCache {
  /** In the order of their last use. */
  const held = new Map<string, { readonly directory: Directory; readonly size: number }>()
  let bytes = 0
  const keep = (digest: Digest, directory: Directory): void => {
    held.set(keyOf(digest), { directory, size: digest.size })
    bytes += digest.size
    for (const [key, { size }] of held) {
      if (bytes <= maxBytes) break
      held.delete(key)
      bytes -= size
    }
  }
  return {
    async get(digests, signal) {
      const found = new Map<string, Directory>()
      const wanted: Digest[] = []
      for (const digest of digests) {
        const key = keyOf(digest)
        const known = held.get(key)
        if (known === undefined) wanted.push(digest)
        else {
          held.delete(key)
          held.set(key, known)
          found.set(formatDigest(digest), known.directory)
        }
      }
      for (const batch of directoryBatches(wanted, source.batchBytes)) {
        for (const [digest, message] of await readBatch(source, batch, signal)) {
          const directory = directoryFromProto(message, digest.fn)
          found.set(formatDigest(digest), directory)
          if (!held.has(keyOf(digest))) keep(digest, directory)
        }
      }
      return found
    },
  }
}

const keyOf = (digest: Digest): string => `${digest.fn}/${formatDigest(digest)}`

async function readBatch(
  source: BlobSource,
  batch: readonly Digest[],
  signal: AbortSignal,
): Promise<[Digest, Uint8Array][]> {
  const [first] = batch
  if (batch.length === 1 && first !== undefined && first.size > source.batchBytes) {
    if (first.size > MOST_BYTES)
      throw new FaultError({ kind: 'invalid', what: `the directory ${formatDigest(first)} is too large` })
    const pieces = await source.read(first, signal)
    if (pieces === undefined) return []
    return [[first, verified(first, Buffer.concat(await gathered(first, pieces)))]]
  }
  const found = await source.readMany(batch, signal)
  return batch.flatMap((digest): [Digest, Uint8Array][] => {
    const message = digest.size === 0 ? new Uint8Array(0) : found.get(formatDigest(digest))
    return message === undefined ? [] : [[digest, verified(digest, message)]]
  })
}

async function gathered(digest: Digest, pieces: AsyncIterable<Uint8Array>): Promise<Buffer[]> {
  const all: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > digest.size) throw wrongBytes(digest)
    all.push(Buffer.from(piece))
  }
  return all
}

function verified(digest: Digest, bytes: Uint8Array): Uint8Array {
  if (bytes.length !== digest.size || digestOf(digest.fn, bytes).hash !== digest.hash) throw wrongBytes(digest)
  return bytes
}

/** The error is retryable: another worker or attempt may receive the right bytes. */
export const wrongBytes = (digest: Digest): FaultError =>
  new FaultError({ kind: 'unavailable', what: `the bytes of ${formatDigest(digest)} do not match its digest` })

/** Each batch fits into one message, except a batch of a single blob that is larger. */
export function* directoryBatches(digests: readonly Digest[], batchBytes: number): Generator<readonly Digest[]> {
  let batch: Digest[] = []
  let bytes = 0
  for (const digest of digests) {
    if (batch.length > 0 && (batch.length >= MOST_A_BATCH || bytes + digest.size > batchBytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(digest)
    bytes += digest.size
  }
  if (batch.length > 0) yield batch
}
