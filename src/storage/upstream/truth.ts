import type { Digest, DigestFunction } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import type { BlobReader, StoredForm } from '../blob-store.ts'
import { type BulkPool, INLINE_BYTES, type Inspected } from '../bulk/bulk-pool.ts'
import { decompressedNow } from '../zstd.ts'
import { untrue } from './upstream-fault.ts'

/**
 * Whether bytes are what their digest says. Nothing whole leaves an upstream without having been asked this: what it
 * sends is kept here and handed to others, and one server that lies or decays must not make all that read from it lie.
 */
export async function isTrue(bulk: BulkPool, digest: Digest, bytes: Uint8Array): Promise<boolean> {
  if (bytes.length !== digest.size) return false
  if (bytes.length <= INLINE_BYTES) return hexOf(hashOf(digest.fn, bytes)) === digest.hash
  const inspection = bulk.inspect(digest.fn, 'identity', digest.size)
  await inspection.update(bytes)
  return isSame(await inspection.finish(), digest)
}

/**
 * A whole blob as it goes by. One that is not true ends with a fault in the place of its last piece or, where the end
 * cannot be foreseen, after it: never with an end that looks well.
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

/** How much there may be is bounded by whoever reads the stream. */
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
