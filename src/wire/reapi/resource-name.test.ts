import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import { COMPRESSORS } from '../../model/compressor.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import { blobName, formatReadName, formatWriteName, parseReadName, parseWriteName } from './resource-name.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const SHA1 = '0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33'
const foo = { fn: 'sha256', hash: HASH, size: 3 } as const

describe('parseReadName', () => {
  test.each([
    [`blobs/${HASH}/3`, { instance: '', digest: foo, compressor: 'identity' }],
    [`/blobs/${HASH}/3`, { instance: '', digest: foo, compressor: 'identity' }],
    [`/compressed-blobs/zstd/${HASH}/3`, { instance: '', digest: foo, compressor: 'zstd' }],
    [`main/blobs/${HASH}/3`, { instance: 'main', digest: foo, compressor: 'identity' }],
    [`a/b/c/blobs/${HASH}/3`, { instance: 'a/b/c', digest: foo, compressor: 'identity' }],
    [`blobs/${HASH}/0`, { instance: '', digest: { ...foo, size: 0 }, compressor: 'identity' }],
    [`blobs/${SHA1}/3`, { instance: '', digest: { fn: 'sha1', hash: SHA1, size: 3 }, compressor: 'identity' }],
    [`blobs/blake3/${HASH}/3`, { instance: '', digest: { ...foo, fn: 'blake3' }, compressor: 'identity' }],
    [`blobs/sha256tree/${HASH}/3`, { instance: '', digest: { ...foo, fn: 'sha256tree' }, compressor: 'identity' }],
    [`compressed-blobs/zstd/${HASH}/3`, { instance: '', digest: foo, compressor: 'zstd' }],
    [`x/compressed-blobs/deflate/${HASH}/3`, { instance: 'x', digest: foo, compressor: 'deflate' }],
    [
      `x/compressed-blobs/brotli/blake3/${HASH}/3`,
      { instance: 'x', digest: { ...foo, fn: 'blake3' }, compressor: 'brotli' },
    ],
    [`blobs/${HASH}/9007199254740991`, { instance: '', digest: { ...foo, size: 2 ** 53 - 1 }, compressor: 'identity' }],
  ])('accepts %s', (name, expected) => {
    expect(parseReadName(name)).toEqual(expected)
  })

  test.each([
    ['', 'has neither blobs/ nor uploads/'],
    ['main', 'has neither blobs/ nor uploads/'],
    ['blobs', 'has a hash of 0 digits'],
    [`//blobs/${HASH}/3`, 'has an instance name that has an empty segment'],
    [`///blobs/${HASH}/3`, 'has an instance name that has an empty segment'],
    [`/a/blobs/${HASH}/3`, 'has an instance name that has an empty segment'],
    [`/../blobs/${HASH}/3`, 'has an instance name that has an empty segment'],
    [`/operations/blobs/${HASH}/3`, 'has "operations" where blobs/ should be'],
    ['/', 'has neither blobs/ nor uploads/'],
    [`a//b/blobs/${HASH}/3`, 'has an instance name that has an empty segment'],
    [`a//blobs/${HASH}/3`, 'has an instance name that has an empty segment'],
    [`../blobs/${HASH}/3`, 'has an instance name that has the segment ".."'],
    [`a/./blobs/${HASH}/3`, 'has an instance name that has the segment "."'],
    [`a\0/blobs/${HASH}/3`, 'has an instance name that has a control character'],
    [`actions/blobs/${HASH}/3`, 'has "actions" where blobs/ should be'],
    [`operations/x/blobs/${HASH}/3`, 'has "operations" where blobs/ should be'],
    [`blobs/blobs/${HASH}/3`, 'has a hash of 5 digits'],
    [`uploads/1/blobs/${HASH}/3`, 'is for writing, not for reading'],
    [`blobs/${HASH}`, 'has no valid size'],
    [`blobs/${HASH}/`, 'has no valid size'],
    [`blobs/${HASH}/-1`, 'has no valid size'],
    [`blobs/${HASH}/03`, 'has no valid size'],
    [`blobs/${HASH}/00`, 'has no valid size'],
    [`blobs/${HASH}/+3`, 'has no valid size'],
    [`blobs/${HASH}/3 `, 'has no valid size'],
    [`blobs/${HASH}/1e3`, 'has no valid size'],
    [`blobs/${HASH}/0x3`, 'has no valid size'],
    [`blobs/${HASH}/9007199254740992`, 'has no valid size'],
    [`blobs/${HASH}/99999999999999999999`, 'has no valid size'],
    [`blobs/${HASH}/3/x`, 'has more text after the size'],
    [`blobs/${HASH}/3/`, 'has more text after the size'],
    [`blobs/${HASH}//3`, 'has no valid size'],
    [`blobs//${HASH}/3`, 'has a hash of 0 digits'],
    [`blobs/${HASH.toUpperCase()}/3`, 'has a hash that is not lower-case hex'],
    [`blobs/${HASH.slice(1)}/3`, 'has a hash of 63 digits'],
    [`blobs/${HASH.slice(2)}/3`, 'has a hash of 62 digits'],
    [`blobs/${HASH.replace('2', 'g')}/3`, 'has a hash that is not lower-case hex'],
    [`blobs/../${HASH}/3`, 'has a hash of 2 digits'],
    [`blobs/sha256/${HASH}/3`, 'names the digest function sha256, which must not be named'],
    [`blobs/sha1/${SHA1}/3`, 'names the digest function sha1, which must not be named'],
    [`blobs/vso/${HASH}/3`, 'names the digest function vso, which must not be named'],
    [`blobs/BLAKE3/${HASH}/3`, 'has a hash of 6 digits'],
    [`blobs/gitsha1/${SHA1}/3`, 'has a hash of 7 digits'],
    [`blobs/blake3/${SHA1}/3`, 'has a hash that is not lower-case hex as blake3 makes it'],
    [`compressed-blobs/identity/${HASH}/3`, 'names the compressor "identity"'],
    [`compressed-blobs/ZSTD/${HASH}/3`, 'names the compressor "ZSTD"'],
    [`compressed-blobs/gzip/${HASH}/3`, 'names the compressor "gzip"'],
    [`compressed-blobs/${HASH}/3`, 'names the compressor'],
    ['compressed-blobs', 'names the compressor ""'],
  ])('refuses %s', (name, message) => {
    expectRefusal(() => parseReadName(name), message)
  })

  test('uses the default function of the instance where the hash length fits several functions', () => {
    const unnamed = (instance: string): DigestFunction => (instance === 'buck' ? 'blake3' : 'sha256')
    expect(parseReadName(`buck/blobs/${HASH}/3`, unnamed).digest.fn).toBe('blake3')
    expect(parseReadName(`buck/blobs/${SHA1}/3`, unnamed).digest.fn).toBe('sha1')
    expect(parseReadName(`other/blobs/${HASH}/3`, unnamed).digest.fn).toBe('sha256')
  })

  test('quotes at most 200 characters of a refused name', () => {
    expectRefusal(() => parseReadName('x'.repeat(1000)), `"${'x'.repeat(200)}…"`)
  })
})

describe('parseWriteName', () => {
  const uploadId = '0b8e2a3c-7a4e-4c9b-9a57-6d0d2b6a9c11'
  const plain = { instance: '', uploadId, digest: foo, compressor: 'identity' } as const

  test.each([
    [`uploads/${uploadId}/blobs/${HASH}/3`, plain],
    [`/uploads/${uploadId}/blobs/${HASH}/3`, plain],
    [`/uploads/${uploadId}/compressed-blobs/zstd/${HASH}/3/x`, { ...plain, compressor: 'zstd' }],
    [`a/b/uploads/${uploadId}/blobs/${HASH}/3`, { ...plain, instance: 'a/b' }],
    [`uploads/${uploadId}/blobs/${HASH}/3/src/main.c`, plain],
    [`uploads/${uploadId}/blobs/${HASH}/3/`, plain],
    [`uploads/${uploadId}/blobs/${HASH}/3//../blobs`, plain],
    [`uploads/${uploadId}/compressed-blobs/zstd/${HASH}/3/x`, { ...plain, compressor: 'zstd' }],
    [`uploads/blobs/blobs/${HASH}/3`, { ...plain, uploadId: 'blobs' }],
  ])('accepts %s', (name, expected) => {
    expect(parseWriteName(name)).toEqual(expected)
  })

  test.each([
    [`blobs/${HASH}/3`, 'is not for writing'],
    [`uploads/blobs/${HASH}/3`, 'where blobs/ should be'],
    [`uploads//blobs/${HASH}/3`, 'has no id after uploads/'],
    [`uploads/../blobs/${HASH}/3`, 'has no id after uploads/'],
    ['uploads', 'has no id after uploads/'],
    [`//uploads/${uploadId}/blobs/${HASH}/3`, 'has an instance name that has an empty segment'],
    [`/a/uploads/${uploadId}/blobs/${HASH}/3`, 'has an instance name that has an empty segment'],
    [`/uploads//blobs/${HASH}/3`, 'has no id after uploads/'],
    [`uploads/${uploadId}`, 'has "" where blobs/ should be'],
    [`uploads/${uploadId}/uploads/${HASH}/3`, 'has "uploads" where blobs/ should be'],
    [`uploads/${uploadId}/blobs/${HASH}/x/3`, 'has no valid size'],
    [`uploads/${uploadId}/compressed-blobs/identity/${HASH}/3`, 'names the compressor "identity"'],
  ])('refuses %s', (name, message) => {
    expectRefusal(() => parseWriteName(name), message)
  })
})

describe('resource names', () => {
  const segment = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }).filter((text) => !text.includes('/'))
  const instance = fc.array(segment, { maxLength: 3 }).map((segments) => segments.join('/'))
  const digest = fc
    .record({
      fn: fc.constantFrom(...(Object.keys(DIGEST_FUNCTIONS) as DigestFunction[])),
      size: fc.maxSafeNat(),
      seed: fc.uint8Array({ minLength: 64, maxLength: 64 }),
    })
    .map(({ fn, size, seed }) => {
      const hash = Buffer.from(seed.subarray(0, DIGEST_FUNCTIONS[fn].hashBytes)).toString('hex')
      return { fn, hash, size }
    })
  const blob = fc.record({
    instance: instance.filter((name) => instanceNameProblem(name) === undefined),
    digest,
    compressor: fc.constantFrom(...COMPRESSORS),
  })

  test('round-trip', () => {
    fc.assert(
      fc.property(blob, fc.uuid(), (name, uploadId) => {
        expect(parseReadName(formatReadName(name))).toEqual(name)
        expect(parseWriteName(formatWriteName({ ...name, uploadId }))).toEqual({ ...name, uploadId })
        expect(parseWriteName(`${formatWriteName({ ...name, uploadId })}/a/../b`)).toEqual({ ...name, uploadId })
      }),
    )
  })

  test('of random segments are accepted or refused, without another error', () => {
    const word = fc.oneof(segment, fc.constantFrom('blobs', 'uploads', 'zstd', 'blake3', '', '..', HASH, '3'))
    fc.assert(
      fc.property(fc.array(word), (words) => {
        for (const parse of [parseReadName, parseWriteName]) {
          try {
            parse(words.join('/'))
          } catch (error) {
            expect(error).toBeInstanceOf(FaultError)
          }
        }
      }),
    )
  })
})

test('blobName has no instance, and names the function only where the hash length is ambiguous', () => {
  expect(blobName(foo)).toBe(`blobs/${HASH}/3`)
  expect(blobName({ ...foo, fn: 'blake3' })).toBe(`blobs/blake3/${HASH}/3`)
})

function expectRefusal(parse: () => unknown, message: string): void {
  try {
    parse()
  } catch (error) {
    expect(error).toBeInstanceOf(FaultError)
    expect(error).toMatchObject({ fault: { kind: 'invalid' }, message: expect.stringContaining(message) })
    return
  }
  expect.unreachable('it was accepted')
}
