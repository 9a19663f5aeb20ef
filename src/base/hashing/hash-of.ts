import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from '../digest.ts'
import { blake3Hasher } from './blake3.ts'
import type { Hasher } from './hasher.ts'
import { opensslHashInto, opensslHexOf } from './openssl.ts'
import { sha256TreeHasher } from './sha256-tree.ts'

/** Whole blobs are hashed in one call, so these two hashers never hold an unfinished hash and can be shared. */
const WHOLE: Readonly<Record<'sha256tree' | 'blake3', Hasher>> = {
  sha256tree: sha256TreeHasher(),
  blake3: blake3Hasher(),
}

/** The raw hash of a blob that is in memory. */
export function hashOf(fn: DigestFunction, bytes: Uint8Array): Uint8Array {
  if (fn === 'sha256tree' || fn === 'blake3') {
    WHOLE[fn].update(bytes)
    return WHOLE[fn].digest()
  }
  const raw = new Uint8Array(DIGEST_FUNCTIONS[fn].hashBytes)
  opensslHashInto(fn, bytes, raw)
  return raw
}

export function digestOf(fn: DigestFunction, bytes: Uint8Array): Digest {
  const ours = fn === 'sha256tree' || fn === 'blake3'
  const hash = ours ? Buffer.from(hashOf(fn, bytes)).toString('hex') : opensslHexOf(fn, bytes)
  return { fn, hash, size: bytes.length }
}
