import { describe, expect, test } from 'vitest'
import {
  DIGEST_FUNCTIONS,
  type Digest,
  type DigestFunction,
  digestFunctionByHexLength,
  digestFunctionByName,
  digestFunctionByNumber,
  sameDigest,
} from './digest.ts'

const FUNCTIONS = Object.keys(DIGEST_FUNCTIONS) as DigestFunction[]

describe('a digest function', () => {
  test.each(FUNCTIONS)('%s is found by its number and by its name', (fn) => {
    expect(digestFunctionByNumber(DIGEST_FUNCTIONS[fn].number)).toBe(fn)
    expect(digestFunctionByName(fn)).toBe(fn)
  })

  // Unset, VSO, MURMUR3, GITSHA1, and numbers not yet assigned.
  test.each([0, 4, 7, 10, 11, -1])('is not found by the number %i', (number) => {
    expect(digestFunctionByNumber(number)).toBeUndefined()
  })

  test.each(['SHA256', 'vso', '', 'constructor', 'toString', '__proto__'])('is not found by the name "%s"', (name) => {
    expect(digestFunctionByName(name)).toBeUndefined()
  })

  test.each([
    [32, 'md5'],
    [40, 'sha1'],
    [64, 'sha256'],
    [96, 'sha384'],
    [128, 'sha512'],
    [63, undefined],
    [0, undefined],
  ] as const)('for %i hex digits is %s when the caller names no function', (digits, fn) => {
    expect(digestFunctionByHexLength(digits)).toBe(fn)
  })

  test('is the preferred one if its hash length fits', () => {
    expect(digestFunctionByHexLength(64, 'blake3')).toBe('blake3')
    expect(digestFunctionByHexLength(64, 'sha256tree')).toBe('sha256tree')
    expect(digestFunctionByHexLength(40, 'blake3')).toBe('sha1')
    expect(digestFunctionByHexLength(65, 'blake3')).toBeUndefined()
  })
})

test('two digests are equal if function, hash and size are equal', () => {
  const digest: Digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 5 }
  expect(sameDigest(digest, { ...digest })).toBe(true)
  expect(sameDigest(digest, { ...digest, size: 6 })).toBe(false)
  expect(sameDigest(digest, { ...digest, fn: 'blake3' })).toBe(false)
  expect(sameDigest(digest, { ...digest, hash: 'ac'.repeat(32) })).toBe(false)
})
