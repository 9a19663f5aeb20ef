import { createHash, type Hash, hash } from 'node:crypto'
import type { DigestFunction } from '../digest.ts'
import type { Hasher } from './hasher.ts'

/** Hash functions of Node's OpenSSL, the fastest implementation. OpenSSL uses the same names. */
export type OpensslFunction = Exclude<DigestFunction, 'sha256tree' | 'blake3'>

export function opensslHasher(fn: OpensslFunction): Hasher {
  let current: Hash | undefined
  return {
    update(bytes) {
      current ??= createHash(fn)
      current.update(bytes)
    },
    digest() {
      const done = current ?? createHash(fn)
      current = undefined
      return done.digest()
    },
  }
}

/**
 * Asking for a string and unpacking it is odd but fast: on 100 bytes of input `hash()` takes 0.35 µs when its answer is
 * a "binary" string and 0.97 µs when it is a Buffer, and `createHash()` 1.3 µs. From 64 KiB on all are equal.
 */
export function opensslHashInto(fn: OpensslFunction, bytes: Uint8Array, target: Uint8Array): void {
  const answer = hash(fn, bytes, 'binary')
  for (let i = 0; i < answer.length; i += 1) target[i] = answer.charCodeAt(i)
}

export const opensslHexOf = (fn: OpensslFunction, bytes: Uint8Array): string => hash(fn, bytes, 'hex')
