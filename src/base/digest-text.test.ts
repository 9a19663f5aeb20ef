import { describe, expect, test } from 'vitest'
import { checkedDigest, formatDigest, parseDigest, parseSize } from './digest-text.ts'
import { FaultError } from './fault.ts'

const HASH = '0123456789abcdef'.repeat(4)

describe('parseDigest', () => {
  test.each([0, 1, 10, 4096, Number.MAX_SAFE_INTEGER])('reads back a digest of size %d', (size) => {
    const text = `${HASH}/${size}`
    expect(parseDigest(text, 'sha256')).toEqual({ fn: 'sha256', hash: HASH, size })
    expect(formatDigest(parseDigest(text, 'sha256'))).toBe(text)
  })

  test.each([
    ['', 'no slash'],
    [HASH, 'no size'],
    [`${HASH}/`, 'an empty size'],
    [`${HASH}/+1`, 'a sign'],
    [`${HASH}/-1`, 'a negative size'],
    [`${HASH}/01`, 'a leading zero'],
    [`${HASH}/00`, 'two zeros'],
    [`${HASH}/1.0`, 'a fraction'],
    [`${HASH}/1e3`, 'an exponent'],
    [`${HASH}/0x10`, 'another base'],
    [`${HASH}/ 1`, 'a space'],
    [`${HASH}/1\n`, 'a line end'],
    [`${HASH}/9007199254740992`, 'a size that a double cannot count to'],
    [`${HASH}/99999999999999999999`, 'a size of twenty digits'],
    [`${HASH}/1/2`, 'a third part'],
    [`${HASH.toUpperCase()}/1`, 'upper case'],
    [`${HASH.slice(1)}/1`, 'a digit too few'],
    [`${HASH}0/1`, 'a digit too many'],
    [`${HASH.slice(1)}g/1`, 'a letter that is no digit'],
    [`${HASH.slice(1)}٣/1`, 'a digit of another script'],
  ])('refuses %j: %s', (text) => {
    expect(() => parseDigest(text, 'sha256')).toThrow(FaultError)
  })

  test('refuses a hash with the length of another digest function', () => {
    expect(() => parseDigest(`${HASH}/1`, 'sha1')).toThrow('is not a sha1 hash: it must be 40 lower-case hex digits')
    expect(parseDigest(`${HASH.slice(0, 40)}/1`, 'sha1').fn).toBe('sha1')
  })

  test('quotes at most 250 characters of a refused digest', () => {
    expect(() => parseDigest('x'.repeat(1_000_000), 'md5')).toThrow(/^.{0,250}$/)
  })
})

test.each([-1, 0.5, Number.NaN, 2 ** 53])('checkedDigest refuses a size of %d', (size) => {
  expect(() => checkedDigest('sha256', HASH, size)).toThrow(FaultError)
})

test('parseSize accepts 0 to 2^53 - 1', () => {
  expect(parseSize('0')).toBe(0)
  expect(parseSize('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER)
  expect(parseSize('9007199254740993')).toBeUndefined()
})
