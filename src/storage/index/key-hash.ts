/**
 * Where a key goes in the index: HalfSipHash-1-3 over its tag and the eight words of its hash, under two words that this
 * process alone knows (and without the word for the length, which is always the same).
 *
 * The hash of an honest blob would serve as it is. But whoever may name things freely could choose names that meet in
 * one place, and every lookup there would crawl. The tag goes in too: the same blob in two hundred spaces belongs in two
 * hundred places.
 *
 * The size does not, so that a blob can be looked up by its hash alone. That is safe as long as nobody can make many
 * blobs with one hash and different sizes, which is harder than a collision (every function that we know hashes the
 * length along) and impossible for who cannot store what does not match its digest. What is stored under names that
 * anybody may choose, the action cache, has a name hashed by us and no size. See also MOST_SIZES in blob-index.ts.
 *
 * One loop with a test for the last rounds takes twice as long as these two.
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
    word = (words[i] as number) | 0 // and the one that is read last is not used
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
