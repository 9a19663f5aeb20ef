import type { DigestFunction } from '../../base/digest.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import type { Hasher } from '../../base/hashing/hasher.ts'
import type { StoredForm } from '../blob-store.ts'
import { INLINE_BYTES, type Inspection } from '../bulk/bulk-pool.ts'
import { decompressedNow } from '../zstd.ts'

/** Hashes a blob on this thread, piece by piece. For zstd, `size` is the limit of the decompressed size. */
export const inlineInspection = (fn: DigestFunction, form: StoredForm, size: number): Inspection =>
  form === 'zstd' ? smallZstd(fn, size) : smallPlain(fn)

export const hexOf = (hash: Uint8Array): string =>
  Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('hex')

function smallPlain(fn: DigestFunction): Inspection {
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

/** Yields to other calls between two parts of a long piece. */
async function hashInTurns(hasher: Hasher, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += INLINE_BYTES) {
    if (at > 0) await new Promise<void>(setImmediate)
    hasher.update(bytes.subarray(at, at + INLINE_BYTES))
  }
}

function smallZstd(fn: DigestFunction, size: number): Inspection {
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
