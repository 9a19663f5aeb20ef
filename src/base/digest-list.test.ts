import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from './digest.ts'
import { DigestListBuilder, digestAt, digestListOf, hashAt } from './digest-list.ts'

/** A failed property prints its seed; WINDLASS_SEED repeats that run. */
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 200, ...(seed === undefined ? {} : { seed: Number(seed) }) })

const anyFunction = fc.constantFrom(...(Object.keys(DIGEST_FUNCTIONS) as DigestFunction[]))
const anyDigests = anyFunction.chain((fn) => {
  const { hashBytes } = DIGEST_FUNCTIONS[fn]
  const raw = fc.uint8Array({ minLength: hashBytes, maxLength: hashBytes })
  const digest = fc.record({ raw, size: fc.maxSafeNat() })
  return fc.record({ fn: fc.constant(fn), digests: fc.array(digest, { maxLength: 40 }) })
})
const hex = (raw: Uint8Array): string => Buffer.from(raw).toString('hex')

describe('DigestList', () => {
  test('holds digests added as hex, as ASCII within a message, or as raw bytes', () => {
    fc.assert(
      fc.property(anyDigests, fc.nat(9), ({ fn, digests }, at) => {
        const builder = new DigestListBuilder(fn, 0)
        for (const [i, { raw, size }] of digests.entries()) {
          const padding = '/'.repeat(at)
          if (i % 3 === 0) expect(builder.add(hex(raw), size)).toBe(true)
          else if (i % 3 === 1) expect(builder.addAscii(Buffer.from(`${padding}${hex(raw)}z`), at, size)).toBe(true)
          else expect(builder.addRaw(Buffer.from([...Buffer.from(padding), ...raw, 0]), at, size)).toBe(true)
        }
        const list = builder.build()
        expect(list.count).toBe(digests.length)
        expect(list.sizes.length).toBe(list.count)
        expect(list.hashes.length).toBe(list.count * list.width)
        for (const [i, { raw, size }] of digests.entries()) {
          expect(digestAt(list, i)).toEqual({ fn, hash: hex(raw), size })
          expect(hex(hashAt(list, i))).toBe(hex(raw))
        }
      }),
    )
  })

  test('is made of Digest objects of one function, and throws for others', () => {
    const digest: Digest = { fn: 'md5', hash: '00ff'.repeat(8), size: 7 }
    expect(digestAt(digestListOf('md5', [digest, digest]), 1)).toEqual(digest)
    expect(() => digestListOf('md5', [{ ...digest, fn: 'sha1' }])).toThrow('does not belong')
    expect(() => digestListOf('md5', [{ ...digest, hash: 'FF'.repeat(16) }])).toThrow('does not belong')
  })
})

describe('DigestListBuilder.add, invalid digest', () => {
  const good = 'ab'.repeat(16)
  const refused = (hash: string, size = 1): void => {
    const builder = new DigestListBuilder('md5', 0)
    expect(builder.add(good, 1)).toBe(true)
    expect(builder.add(hash, size)).toBe(false)
    const bytes = Buffer.from(hash, 'latin1')
    expect(builder.addAscii(bytes, 0, bytes.length === 32 ? size : -1)).toBe(false)
    expect(builder.add('cd'.repeat(16), 2)).toBe(true)
    const list = builder.build()
    expect([digestAt(list, 0).hash, digestAt(list, 1).hash, list.count]).toEqual([good, 'cd'.repeat(16), 2])
  }

  test.each([...'ABCDEFGg/:`@Z \0'])('a hash that contains %j is not added', (wrong) => {
    refused(wrong + good.slice(1))
    refused(good.slice(1) + wrong)
  })

  // Characters that would be accepted if only their lowest byte were checked.
  test.each(['\u0130', '\u1061', '\uff30'])('a hash that contains the character %j is not added', (wrong) => {
    const builder = new DigestListBuilder('md5')
    expect(builder.add(wrong + good.slice(1), 1)).toBe(false)
    expect(builder.add(good.slice(1) + wrong, 1)).toBe(false)
    expect(builder.count).toBe(0)
  })

  test.each([0, 31, 33, 64])('a hash of %i digits is not added', (length) => refused('ab'.repeat(32).slice(0, length)))

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('a size of %d is not added', (size) =>
    refused(good, size),
  )

  test('a hash that lies outside the given bytes is not added', () => {
    const builder = new DigestListBuilder('md5')
    const ascii = Buffer.from(good)
    expect([builder.addAscii(ascii, 1, 1), builder.addAscii(ascii, -1, 1)]).toEqual([false, false])
    expect([builder.addRaw(ascii, 17, 1), builder.addRaw(ascii, -1, 1)]).toEqual([false, false])
    expect(builder.count).toBe(0)
  })
})
