/**
 * Where a key goes in the index: HalfSipHash-1-3 over its ten words, under two words that this process alone knows
 * (and without the word for the length, which is always the same).
 *
 * The hash of an honest blob would serve as it is. But whoever may name things freely (an action's digest is not the
 * digest of what is kept under it) could choose names that meet in one place, and every lookup there would crawl.
 * Every word of the key goes in, size and tag too: the same blob in two hundred spaces belongs in two hundred places.
 *
 * One loop with a test for the last rounds takes twice as long as these two.
 */
export const KEY_WORDS = 10

export function hashKey(words: Uint32Array, at: number, seed: Uint32Array): number {
  let v0 = (seed[0] as number) | 0
  let v1 = (seed[1] as number) | 0
  let v2 = v0 ^ 0x6c796765
  let v3 = v1 ^ 0x74656462
  const end = at + KEY_WORDS
  for (let i = at; i < end; i++) {
    const word = (words[i] as number) | 0
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
