import { digestFunctionByNumber } from '../../base/digest.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import { decompressedNow, decompressing } from '../zstd.ts'
import { functionNumberOf, type RecordHeader, spaceOf } from './record-format.ts'

/** The space of values, whose names are not their hashes. The action cache stores values. */
export const VALUE_SPACE = 255
/** The SHA-256 of a value is stored before it, because its name cannot verify it. */
export const VALUE_PROOF_BYTES = 32

const isValue = ({ tag }: RecordHeader): boolean => spaceOf(tag) === VALUE_SPACE

/** Verifies a payload against its header by the whole hash. CRCs only detect accidental corruption. */
export function isProven(header: RecordHeader, payload: Uint8Array): boolean {
  if (isValue(header)) {
    const value = payload.subarray(VALUE_PROOF_BYTES)
    return payload.length >= VALUE_PROOF_BYTES && isSame(hashOf('sha256', value), payload, 0)
  }
  const fn = digestFunctionByNumber(functionNumberOf(header.tag))
  const plain = header.form === 'zstd' ? decompressedNow(payload, header.size) : payload
  if (fn === undefined || plain === undefined || plain.length !== header.size) return false
  return isSame(hashOf(fn, plain), header.hash, header.at)
}

/** Like `isProven`, for a payload that is too large for memory. */
export async function isStreamProven(header: RecordHeader, payload: AsyncIterable<Uint8Array>): Promise<boolean> {
  const fn = digestFunctionByNumber(functionNumberOf(header.tag))
  if (fn === undefined || isValue(header)) return false
  const hasher = createHasher(fn)
  let bytes = 0
  try {
    for await (const piece of header.form === 'zstd' ? decompressing(payload) : payload) {
      bytes += piece.length
      if (bytes > header.size) return false
      hasher.update(piece)
    }
  } catch {
    return false
  }
  return bytes === header.size && isSame(hasher.digest(), header.hash, header.at)
}

function isSame(hash: Uint8Array, other: Uint8Array, at: number): boolean {
  for (let i = 0; i < hash.length; i++) if (hash[i] !== other[at + i]) return false
  return true
}
