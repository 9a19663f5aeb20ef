import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { BlobSource } from '../inputs/blob-source.ts'

/** The limit of one message: a command with all its arguments and variables is smaller. */
const MOST_BYTES = 64 * 1024 * 1024

/** Reads one message from the store and verifies its digest. Throws `missing` when it is absent. */
export async function fetchBlob(source: BlobSource, digest: Digest, signal: AbortSignal): Promise<Uint8Array> {
  if (digest.size > MOST_BYTES)
    throw new FaultError({ kind: 'invalid', what: `the message ${formatDigest(digest)} is too large` })
  const bytes =
    digest.size <= source.batchBytes ? await inBatch(source, digest, signal) : await inPieces(source, digest, signal)
  if (bytes === undefined) throw new FaultError({ kind: 'missing', digests: [digest] })
  if (bytes.length !== digest.size || digestOf(digest.fn, bytes).hash !== digest.hash)
    throw new FaultError({
      kind: 'unavailable',
      what: `the bytes of ${formatDigest(digest)} do not match its digest`,
    })
  return bytes
}

const inBatch = async (source: BlobSource, digest: Digest, signal: AbortSignal): Promise<Uint8Array | undefined> =>
  digest.size === 0 ? new Uint8Array() : (await source.readMany([digest], signal)).get(formatDigest(digest))

async function inPieces(source: BlobSource, digest: Digest, signal: AbortSignal): Promise<Uint8Array | undefined> {
  const pieces = await source.read(digest, signal)
  if (pieces === undefined) return undefined
  const all: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > digest.size) break
    all.push(Buffer.from(piece))
  }
  return Buffer.concat(all)
}
