import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestFunctionNumber, digestToProto } from '../digests/digest.ts'
import { type DeepPartial, FindMissingBlobsRequest } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import {
  ACCIDENTS,
  aDigest,
  aFunction,
  amid,
  anInstance,
  damaged,
  digestsIn,
  encodedAs,
  judged,
  orRefused,
  REAPI,
} from '../messages/messages.fixture.ts'
import { findMissingResponse, readFindMissingRequest } from './find-missing.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const SHA1 = '0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33'

type Part = DeepPartial<FindMissingBlobsRequest>
const encoded = (request: Part): Uint8Array => encodedAs(FindMissingBlobsRequest, request)

const aRequest = aFunction
  .chain((fn) =>
    fc.record({ fn: fc.constant(fn), instance: anInstance, digests: fc.array(aDigest(fn), { maxLength: 20 }) }),
  )
  .map((sent) => {
    const { fn, instance, digests } = sent
    const blobDigests = digests.map(digestToProto)
    return { sent, bytes: encoded({ instanceName: instance, blobDigests, digestFunction: digestFunctionNumber(fn) }) }
  })

describe('FindMissingBlobsRequest', () => {
  test('round-trips at any position in a buffer', () => {
    fc.assert(
      fc.property(aRequest, ({ sent, bytes }) => {
        const { instance, digests } = readFindMissingRequest(amid(bytes))
        expect({ instance, digests: digestsIn(digests), fn: digests.fn }).toEqual(sent)
      }),
    )
  })

  test('when damaged is refused, or reads the same as with another parser', () => {
    fc.assert(
      fc.property(damaged(aRequest.map(({ bytes }) => bytes)), (bytes) => {
        const read = orRefused(() => readFindMissingRequest(amid(bytes)))
        if (read === undefined) return
        const theirs = judged(`${REAPI}.FindMissingBlobsRequest`, bytes)
        expect(read.instance).toBe(theirs.instanceName)
        const ours = digestsIn(read.digests).map(({ hash, size }) => ({ hash, sizeBytes: BigInt(size) }))
        expect(theirs.blobDigests).toMatchObject(ours)
        expect(theirs.blobDigests).toHaveLength(ours.length)
      }),
      { numRuns: ACCIDENTS },
    )
  })

  test('without a digest function gets it from the hash length, or from the instance where several fit', () => {
    const fnOf = (hash: string | undefined, instanceName = '') => {
      const blobDigests = hash === undefined ? [] : [{ hash, sizeBytes: 1 }]
      const bytes = encoded({ instanceName, blobDigests })
      return readFindMissingRequest(bytes, (instance) => (instance === 'buck' ? 'blake3' : 'sha256')).digests
    }
    expect(fnOf(HASH)).toMatchObject({ fn: 'sha256', width: 32 })
    expect(fnOf(HASH, 'buck')).toMatchObject({ fn: 'blake3', width: 32 })
    expect(fnOf(SHA1, 'buck')).toMatchObject({ fn: 'sha1', width: 20 })
    expect(fnOf('ab'.repeat(16))).toMatchObject({ fn: 'md5', width: 16 })
    expect(fnOf(undefined)).toMatchObject({ fn: 'sha256', width: 32, count: 0 })
  })

  test.each<[string, Part, string]>([
    ['an upper-case hash', { blobDigests: [{ hash: HASH.toUpperCase() }] }, 'not lower-case hex'],
    ['an odd number of digits', { blobDigests: [{ hash: HASH.slice(1) }] }, 'a hash has 63 digits'],
    ['a length of no function', { blobDigests: [{ hash: 'abcd' }] }, 'a hash has 4 digits'],
    ['no hash', { blobDigests: [{ sizeBytes: 3 }] }, 'a digest has no hash'],
    ['a negative size', { blobDigests: [{ hash: HASH, sizeBytes: -1 }] }, 'the size of a digest is negative'],
    [
      'hashes of two lengths',
      { blobDigests: [{ hash: HASH }, { hash: SHA1 }] },
      'a hash has 40 digits, but the others have 64',
    ],
    ['another function', { blobDigests: [{ hash: HASH }], digestFunction: 2 }, 'a hash of sha1 has 40 hex digits'],
    ['a function that we have not', { digestFunction: 4 }, 'digest function VSO is not supported'],
    ['a function that nobody has', { digestFunction: 77 as 1 }, 'digest function 77 is not supported'],
    ['a reserved instance name', { instanceName: 'a/uploads' }, 'the instance name has the reserved segment'],
  ])('with %s is refused', (_, request, message) => {
    expect(() => readFindMissingRequest(encoded(request))).toThrow(message)
  })

  test('with a repeated field reads its last value', () => {
    const twice = Buffer.concat([
      encoded({ instanceName: 'a', digestFunction: 2 }),
      encoded({ instanceName: 'b', digestFunction: 9 }),
    ])
    expect(readFindMissingRequest(twice)).toMatchObject({ instance: 'b', digests: { fn: 'blake3' } })
    // Digest { hash: "ff", hash: HASH, size_bytes: 1, size_bytes: 3 }
    const digest = Buffer.from(`0a026666 0a40${Buffer.from(HASH).toString('hex')} 1001 1003`.replaceAll(' ', ''), 'hex')
    const bytes = Buffer.concat([Buffer.of(0x12, digest.length), digest])
    expect(digestsIn(readFindMissingRequest(bytes).digests)).toEqual([{ fn: 'sha256', hash: HASH, size: 3 }])
  })

  test('may contain unknown fields', () => {
    const digest = Buffer.from(`0a40${Buffer.from(HASH).toString('hex')} 1003 1a0178`.replaceAll(' ', ''), 'hex')
    const bytes = Buffer.concat([Buffer.of(0x22, 1, 0x78, 0x12, digest.length), digest, Buffer.of(0x2d, 1, 2, 3, 4)])
    expect(digestsIn(readFindMissingRequest(bytes).digests)).toEqual([{ fn: 'sha256', hash: HASH, size: 3 }])
  })
})

describe('FindMissingBlobsResponse', () => {
  const answer = (bytes: Uint8Array, absent: readonly number[]) =>
    judged(
      `${REAPI}.FindMissingBlobsResponse`,
      findMissingResponse(readFindMissingRequest(bytes), Uint8Array.from(absent)),
    )

  test('names each absent digest once, in order', () => {
    fc.assert(
      fc.property(aRequest, fc.infiniteStream(fc.boolean()), ({ sent, bytes }, flags) => {
        const absent = sent.digests.map(() => (flags.next().value ? 1 : 0))
        const seen = new Set<string>()
        const expected = sent.digests.filter(({ hash, size }, index) => {
          const fresh = absent[index] === 1 && !seen.has(`${hash}/${size}`)
          if (fresh) seen.add(`${hash}/${size}`)
          return fresh
        })
        const { missingBlobDigests } = answer(amid(bytes), absent)
        expect(missingBlobDigests).toMatchObject(expected.map(({ hash, size }) => ({ hash, sizeBytes: BigInt(size) })))
        expect(missingBlobDigests).toHaveLength(expected.length)
      }),
    )
  })

  test('does not repeat a digest that was requested twice, and leaves the flags unchanged', () => {
    const blobDigests = [1, 2, 1, 3, 2, 1].map((sizeBytes) => ({ hash: HASH, sizeBytes }))
    const absent = [1, 1, 1, 1, 1, 1]
    expect(answer(encoded({ blobDigests }), absent).missingBlobDigests).toMatchObject([
      { sizeBytes: 1n },
      { sizeBytes: 2n },
      { sizeBytes: 3n },
    ])
    expect(absent).toEqual([1, 1, 1, 1, 1, 1])
  })

  test('is complete for 200 digests with the same hash and different sizes', () => {
    const blobDigests = Array.from({ length: 200 }, (_, sizeBytes) => ({ hash: HASH, sizeBytes }))
    const { missingBlobDigests } = answer(
      encoded({ blobDigests }),
      blobDigests.map(() => 1),
    )
    expect(missingBlobDigests).toHaveLength(200)
  })

  test('is empty when no blob is absent', () => {
    const request = readFindMissingRequest(encoded({ blobDigests: [{ hash: HASH, sizeBytes: 1 }] }))
    expect(findMissingResponse(request, new Uint8Array(1))).toHaveLength(0)
  })
})
