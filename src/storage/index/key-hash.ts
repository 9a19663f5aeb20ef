/**
 * The hash that places a key in the index: HalfSipHash-1-3 over the tag and the eight words of the hash, with a secret
 * key of two words per process. It omits the length word, because the length is always the same.
 *
 * The digest of a blob would be random enough. But a client that can choose keys freely could choose keys that collide
 * in one slot, which makes every lookup there slow. The tag is hashed too, because the same blob in 200 spaces must not
 * collide in one slot.
 *
 * The size is not hashed, so that a blob can be looked up by its hash alone. This is safe as long as clients cannot
 * make many blobs with one hash and different sizes. That is harder than a collision, because every supported function
 * also hashes the length, and a blob that does not match its digest is not stored. Clients choose the keys of the
 * action cache freely; the server hashes those keys, and they have no size. See also MOST_SIZES in blob-index.ts.
 *
 * There are two loops, because one loop with a test for the last rounds takes twice as long.
 */
export const KEY_WORDS = 10
/** Words of the hash, at the beginning of the key. */
export const HASH_WORDS = 8
const TAG_WORD = 9
const TAG_BITS = 0xffff

export function hashKey(words: Uint32Array, at: number, seed: Uint32Array): number {
  let v0 = (seed[0] as number) | 0
  let v1 = (seed[1] as number) | 0
  let v2 = v0 ^ 0x6c796765
  let v3 = v1 ^ 0x74656462
  let word = (words[at + TAG_WORD] as number) & TAG_BITS
  const end = at + HASH_WORDS
  for (let i = at; i <= end; i++) {
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
    word = (words[i] as number) | 0 // the word that is read last is not used
  }
  v2 ^= 0xff
  for (let i = 0; i < 3; i++) {
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
  }
  return (v1 ^ v3) >>> 0
}
