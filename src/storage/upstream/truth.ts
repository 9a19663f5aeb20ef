import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import type { BlobReader, StoredForm } from '../blob-store.ts'
import { type BulkPool, INLINE_BYTES, type Inspected } from '../bulk/bulk-pool.ts'
import { hexOf, inlineInspection } from '../verification/inline-inspection.ts'
import { untrue } from './upstream-fault.ts'

/**
 * Verifies that bytes match their digest. All whole blobs of an upstream are verified: they are stored and served to
 * other clients, so corrupt data of one server must not spread.
 */
export async function isTrue(bulk: BulkPool, digest: Digest, bytes: Uint8Array): Promise<boolean> {
  if (bytes.length !== digest.size) return false
  if (bytes.length <= INLINE_BYTES) return hexOf(hashOf(digest.fn, bytes)) === digest.hash
  const inspection = bulk.inspect(digest.fn, 'identity', digest.size)
  await inspection.update(bytes)
  return isSame(await inspection.finish(), digest)
}

/**
 * Verifies a whole blob while it streams. A blob that does not match ends with a fault, never with a regular end. The
 * fault replaces the last piece; for zstd, whose length is not known in advance, it follows the last piece.
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
  size > INLINE_BYTES ? bulk.inspect(fn, form, size) : inlineInspection(fn, form, size)
