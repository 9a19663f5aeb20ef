import type { Digest, DigestList } from '../../base/digest.ts'
import { digestAt } from '../../base/digest-list.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { type FaultError, invalid } from '../../base/fault.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import type { Hasher } from '../../base/hashing/hasher.ts'
import type { BlobStore, BlobWriter, StoredForm } from '../blob-store.ts'
import { type BulkPool, INLINE_BYTES, type Inspection } from '../bulk/bulk-pool.ts'
import { decompressedNow } from '../zstd.ts'

/**
 * Uploads of this size are hashed on the spot too, a little at a time as they come: another thread would need a copy of
 * every byte and a message for each piece, an eighth more of all the work that an upload is.
 */
const HASHED_AS_IT_COMES_BYTES = 2 * 1024 * 1024

/** Rejects writes whose bytes do not match the digest: the store behind it never gets the commit. */
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
  return form === 'zstd' ? smallZstd(fn, size) : smallPlain(fn)
}

function smallPlain(fn: Digest['fn']): Inspection {
  const hasher = createHasher(fn)
  let size = 0
  return {
    update(bytes) {
      size += bytes.length
      if (bytes.length > INLINE_BYTES) return hashInTurns(hasher, bytes)
      hasher.update(bytes)
    },
    finish: async () => ({ hash: hasher.digest(), size }),
    cancel() {},
  }
}

/** Others have the loop between two parts of a long piece. */
async function hashInTurns(hasher: Hasher, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += INLINE_BYTES) {
    if (at > 0) await new Promise<void>(setImmediate)
    hasher.update(bytes.subarray(at, at + INLINE_BYTES))
  }
}

/** Zstd may be larger than the blob, but not by much. */
const mostZstdBytes = (size: number): number => size + size / 8 + 64 * 1024

function smallZstd(fn: Digest['fn'], size: number): Inspection {
  const pieces: Uint8Array[] = []
  return {
    update: (bytes) => void pieces.push(new Uint8Array(bytes)),
    async finish() {
      const plain = decompressedNow(Buffer.concat(pieces), size)
      return plain && { hash: hashOf(fn, plain), size: plain.length }
    },
    cancel() {},
  }
}

interface Expected {
  readonly digest: Digest
  readonly inspection: Inspection
  /** More than that cannot be right, and is not waited for. */
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
        throw mismatch(digest, 'there are more of them')
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

const hexOf = (hash: Uint8Array): string => Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('hex')

function isAt(hash: Uint8Array, hashes: Uint8Array, at: number): boolean {
  for (let i = 0; i < hash.length; i++) if (hash[i] !== hashes[at + i]) return false
  return true
}
