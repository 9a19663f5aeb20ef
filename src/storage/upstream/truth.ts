import type { Digest, DigestFunction } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import type { BlobReader, StoredForm } from '../blob-store.ts'
import { type BulkPool, INLINE_BYTES, type Inspected } from '../bulk/bulk-pool.ts'
import { decompressedNow } from '../zstd.ts'
import { untrue } from './upstream-fault.ts'

/**
 * Verifies that bytes match their digest. All whole blobs of an upstream pass through this: they are stored and served
 * to others, so one corrupt server must not spread its data.
 */
export async function isTrue(bulk: BulkPool, digest: Digest, bytes: Uint8Array): Promise<boolean> {
  if (bytes.length !== digest.size) return false
  if (bytes.length <= INLINE_BYTES) return hexOf(hashOf(digest.fn, bytes)) === digest.hash
  const inspection = bulk.inspect(digest.fn, 'identity', digest.size)
  await inspection.update(bytes)
  return isSame(await inspection.finish(), digest)
}

/**
 * Verifies a whole blob while it streams. A blob that does not match ends with a fault in place of its last piece or,
 * if the end is not known in advance, after it: never with a regular end.
 */
export function trueReader(bulk: BulkPool, digest: Digest, reader: BlobReader): BlobReader {
  return { form: reader.form, pieces: truePieces(bulk, digest, reader) }
}

async function* truePieces(bulk: BulkPool, digest: Digest, { form, pieces }: BlobReader): AsyncGenerator<Uint8Array> {
  const inspection = inspect(bulk, digest, form)
  const check = async (): Promise<void> => {
    if (!isSame(await inspection.finish(), digest)) {
      throw untrue(`what the upstream sent for ${formatDigest(digest)} does not match it`)
    }
  }
  let have = 0
  let isChecked = false
  try {
    for await (const piece of pieces) {
      have += piece.length
      await inspection.update(piece)
      if (form === 'identity' && have === digest.size) {
        await check()
        isChecked = true
      }
      yield piece
    }
    if (!isChecked) await check()
  } finally {
    inspection.cancel()
  }
}

const isSame = (found: Inspected | undefined, { hash, size }: Digest): boolean =>
  found !== undefined && found.size === size && hexOf(found.hash) === hash

const inspect = (bulk: BulkPool, { fn, size }: Digest, form: StoredForm) =>
  size > INLINE_BYTES ? bulk.inspect(fn, form, size) : form === 'zstd' ? smallZstd(fn, size) : smallPlain(fn)

function smallPlain(fn: DigestFunction) {
  const hasher = createHasher(fn)
  let size = 0
  return {
    update(bytes: Uint8Array): void {
      size += bytes.length
      hasher.update(bytes)
    },
    finish: async (): Promise<Inspected> => ({ hash: hasher.digest(), size }),
    cancel() {},
  }
}

/** The reader of the stream limits the size. */
function smallZstd(fn: DigestFunction, size: number) {
  const pieces: Uint8Array[] = []
  return {
    update: (bytes: Uint8Array): void => void pieces.push(Uint8Array.from(bytes)),
    async finish(): Promise<Inspected | undefined> {
      const plain = decompressedNow(Buffer.concat(pieces), size)
      return plain && { hash: hashOf(fn, plain), size: plain.length }
    },
    cancel() {},
  }
}

const hexOf = (hash: Uint8Array): string => Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('hex')
