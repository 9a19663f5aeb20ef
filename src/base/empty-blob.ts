import type { Digest, DigestFunction } from './digest.ts'

/** The blob of no bytes. It is everywhere without ever being uploaded, so its names must be known by heart. */
const EMPTY_HASHES: Readonly<Record<DigestFunction, string>> = {
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  sha1: 'da39a3ee5e6b4b0d3255bfef95601890afd80709',
  md5: 'd41d8cd98f00b204e9800998ecf8427e',
  sha384: '38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b',
  sha512:
    'cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce' +
    '47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e',
  sha256tree: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  blake3: 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262',
}

export const emptyDigest = (fn: DigestFunction): Digest => ({ fn, hash: EMPTY_HASHES[fn], size: 0 })

/** The size alone does not decide: no blob has size 0 and another hash. */
export const isEmptyDigest = (digest: Digest): boolean => digest.size === 0 && digest.hash === EMPTY_HASHES[digest.fn]
