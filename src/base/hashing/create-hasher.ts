import type { DigestFunction } from '../digest.ts'
import { blake3Hasher, prepareBlake3 } from './blake3.ts'
import type { Hasher } from './hasher.ts'
import { opensslHasher } from './openssl.ts'
import { sha256TreeHasher } from './sha256-tree.ts'

/** Makes every digest function ready in this thread. Until then the first use of BLAKE3 throws; the others work. */
export const prepareHashing = (): Promise<void> => prepareBlake3()

export function createHasher(fn: DigestFunction): Hasher {
  if (fn === 'sha256tree') return sha256TreeHasher()
  if (fn === 'blake3') return blake3Hasher()
  return opensslHasher(fn)
}
