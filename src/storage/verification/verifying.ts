import type { Digest, DigestList } from '../../base/digest.ts'
import { digestAt } from '../../base/digest-list.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { type FaultError, invalid } from '../../base/fault.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import type { BlobStore, BlobWriter, StoredForm } from '../blob-store.ts'
import { type BulkPool, INLINE_BYTES, type Inspection } from '../bulk/bulk-pool.ts'
import { hexOf, inlineInspection } from './inline-inspection.ts'

/**
 * Uploads up to this size are hashed on the main thread, piece by piece. Another thread would need a copy of every byte
 * and a message for each piece, which adds an eighth to the CPU time of an upload.
 */
const HASHED_AS_IT_COMES_BYTES = 2 * 1024 * 1024

/** Rejects writes whose bytes do not match the digest: the inner store never gets the commit. */
export const verifying =
  (bulk: BulkPool) =>
  (inner: BlobStore): BlobStore => ({
    ...inner,
    writeMany(list, blobs) {
      const wrong = firstWrong(list, blobs)
      if (wrong !== undefined) return Promise.reject(wrong)
      const large = blobs.some(({ length }) => length > INLINE_BYTES)
      return large
        ? inspectLarge(bulk, list, blobs).then(() => inner.writeMany(list, blobs))
        : inner.writeMany(list, blobs)
    },
    write: (digest, form) =>
      verifiedWriter(inner.write(digest, form), {
        digest,
        inspection: inspectionOf(bulk, digest, form),
        maxBytes: form === 'zstd' ? mostZstdBytes(digest.size) : digest.size,
      }),
  })

const mismatch = (digest: Digest, what: string): FaultError =>
  invalid(`the bytes do not match the digest ${formatDigest(digest)}: ${what}`)

/** Checks all sizes, and the hashes of small blobs. */
function firstWrong(list: DigestList, blobs: readonly Uint8Array[]): FaultError | undefined {
  for (let i = 0; i < list.count; i++) {
    const bytes = blobs[i] as Uint8Array
    if (bytes.length !== list.sizes[i]) return mismatch(digestAt(list, i), `there are ${bytes.length} of them`)
    if (bytes.length > INLINE_BYTES) continue
    const hash = hashOf(list.fn, bytes)
    if (!isAt(hash, list.hashes, i * list.width)) return mismatch(digestAt(list, i), `they hash to ${hexOf(hash)}`)
  }
  return undefined
}

async function inspectLarge(bulk: BulkPool, list: DigestList, blobs: readonly Uint8Array[]): Promise<void> {
  const check = async (index: number): Promise<void> => {
    const bytes = blobs[index] as Uint8Array
    const inspection = bulk.inspect(list.fn, 'identity', bytes.length)
    await inspection.update(bytes)
    const found = await inspection.finish()
    if (found === undefined || !isAt(found.hash, list.hashes, index * list.width)) {
      throw mismatch(digestAt(list, index), `they hash to ${found ? hexOf(found.hash) : 'nothing'}`)
    }
  }
  const indexes = blobs.flatMap(({ length }, index) => (length > INLINE_BYTES ? [index] : []))
  await Promise.all(indexes.map(check))
}

function inspectionOf(bulk: BulkPool, { fn, size }: Digest, form: StoredForm): Inspection {
  const isSlow = form === 'zstd' || fn === 'sha256tree'
  if (size > (isSlow ? INLINE_BYTES : HASHED_AS_IT_COMES_BYTES)) return bulk.inspect(fn, form, size)
  return inlineInspection(fn, form, size)
}

/** Compressed data may be longer than the blob: by at most an eighth and 64 KiB. */
const mostZstdBytes = (size: number): number => size + size / 8 + 64 * 1024

interface Expected {
  readonly digest: Digest
  readonly inspection: Inspection
  /** The most bytes of the upload. A longer upload is rejected at once. */
  readonly maxBytes: number
}

function verifiedWriter(inner: BlobWriter, { digest, inspection, maxBytes }: Expected): BlobWriter {
  let isEnded = false
  let have = 0
  const abort = (): void => {
    if (isEnded) return
    isEnded = true
    inspection.cancel()
    inner.abort()
  }
  return {
    write(bytes) {
      have += bytes.length
      if (have > maxBytes) {
        abort()
        throw mismatch(digest, 'more bytes were sent')
      }
      const inspected = inspection.update(bytes)
      const written = inner.write(bytes)
      if (inspected === undefined) return written
      return written === undefined ? inspected : Promise.all([inspected, written]).then(() => {})
    },
    async commit() {
      try {
        const found = await inspection.finish()
        if (found === undefined) throw mismatch(digest, 'they are not zstd of that size')
        if (found.size !== digest.size) throw mismatch(digest, `there are ${found.size} of them`)
        if (hexOf(found.hash) !== digest.hash) throw mismatch(digest, `they hash to ${hexOf(found.hash)}`)
      } catch (error) {
        abort()
        throw error
      }
      isEnded = true
      await inner.commit()
    },
    abort,
  }
}

function isAt(hash: Uint8Array, hashes: Uint8Array, at: number): boolean {
  for (let i = 0; i < hash.length; i++) if (hash[i] !== hashes[at + i]) return false
  return true
}
