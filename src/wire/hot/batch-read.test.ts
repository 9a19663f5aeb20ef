import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { COMPRESSORS } from '../../model/compressor.ts'
import { digestFunctionNumber, digestToProto } from '../digests/digest.ts'
import {
  BatchReadBlobsRequest,
  BatchReadBlobsResponse,
} from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { statusDetails } from '../google/status.ts'
import {
  ACCIDENTS,
  aDigest,
  aFunction,
  aHash,
  amid,
  anInstance,
  damaged,
  digestsIn,
  judged,
  orRefused,
  REAPI,
} from '../messages/messages.fixture.ts'
import { batchReadResponse, readBatchReadRequest } from './batch-read.ts'

const aRequest = aFunction
  .chain((fn) =>
    fc.record({
      fn: fc.constant(fn),
      instance: anInstance,
      digests: fc.array(aDigest(fn), { maxLength: 10 }),
      accepts: fc.array(fc.nat(4), { maxLength: 4 }),
    }),
  )
  .map((sent) => ({
    sent,
    bytes: BatchReadBlobsRequest.encode({
      instanceName: sent.instance,
      digests: sent.digests.map(digestToProto),
      acceptableCompressors: sent.accepts as 0[],
      digestFunction: digestFunctionNumber(sent.fn),
    }).finish(),
  }))

describe('BatchReadBlobsRequest', () => {
  test('round-trips, without identity and unknown compressors', () => {
    fc.assert(
      fc.property(aRequest, ({ sent, bytes }) => {
        const { instance, digests, acceptable } = readBatchReadRequest(amid(bytes))
        expect({ instance, digests: digestsIn(digests) }).toEqual({ instance: sent.instance, digests: sent.digests })
        const named = sent.accepts.flatMap((number) => COMPRESSORS[number] ?? [])
        expect(new Set(acceptable)).toEqual(new Set(named.filter((name) => name !== 'identity')))
      }),
    )
  })

  test('may list compressors unpacked', () => {
    expect(readBatchReadRequest(Buffer.from('18011803', 'hex')).acceptable).toEqual(['zstd', 'brotli'])
  })

  test('when damaged is refused, or reads the same as with another parser', () => {
    fc.assert(
      fc.property(damaged(aRequest.map(({ bytes }) => bytes)), (bytes) => {
        const read = orRefused(() => readBatchReadRequest(amid(bytes)))
        if (read === undefined) return
        const theirs = judged(`${REAPI}.BatchReadBlobsRequest`, bytes)
        expect(read.instance).toBe(theirs.instanceName)
        expect(theirs.digests).toMatchObject(
          digestsIn(read.digests).map(({ hash, size }) => ({ hash, sizeBytes: BigInt(size) })),
        )
        expect(theirs.digests).toHaveLength(read.digests.count)
      }),
      { numRuns: ACCIDENTS },
    )
  })
})

describe('BatchReadBlobsResponse', () => {
  type Outcome = 'found' | 'placed' | 'absent' | 'unsaid' | 'failed' | 'packed'
  const anOutcome = fc.constantFrom<Outcome[]>('found', 'placed', 'absent', 'unsaid', 'failed', 'packed')
  const aBlob = fc.record({ hash: aHash('sha256'), data: fc.uint8Array({ maxLength: 200 }), outcome: anOutcome })
  const refused = statusDetails(15, 'went bad', [])
  const read = (message: Uint8Array) => BatchReadBlobsResponse.decode(Uint8Array.from(message)).responses

  test('reports every blob in the order of the request, independent of the order of the lookups', () => {
    fc.assert(
      fc.property(fc.array(aBlob, { maxLength: 8 }), fc.array(fc.nat()), (blobs, shuffle) => {
        const digests = digestListOf(
          'sha256',
          blobs.map(({ hash, data }): Digest => ({ fn: 'sha256', hash, size: data.length })),
        )
        const response = batchReadResponse(digests, 10_000)
        const order = blobs.map((_, index) => index).sort((a, b) => (shuffle[a] ?? a) - (shuffle[b] ?? b))
        for (const index of order) {
          const { data, outcome } = blobs[index] as (typeof blobs)[0]
          if (outcome === 'found') response.found(index, data)
          else if (outcome === 'placed') response.place(index).set(data)
          else if (outcome === 'packed') response.found(index, data, 'zstd')
          else if (outcome === 'failed') response.failed(index, refused)
          else if (outcome === 'absent') response.absent(index)
        }
        expect(read(response.finish())).toEqual(
          blobs.map(({ hash, data, outcome }) => {
            const there = ['found', 'placed', 'packed'].includes(outcome)
            const status = there ? [0, ''] : outcome === 'failed' ? [15, 'went bad'] : [5, 'not found']
            return {
              digest: { hash, sizeBytes: data.length },
              data: there ? data : new Uint8Array(),
              compressor: outcome === 'packed' ? 1 : 0,
              status: { code: status[0], message: status[1], details: [] },
            }
          }),
        )
      }),
    )
  })

  const hello = { fn: 'sha256', hash: 'ab'.repeat(32), size: 5 } as const

  test('is the buffer that the blobs were read into, when all are present', () => {
    const response = batchReadResponse(digestListOf('sha256', [hello, hello]), 10)
    const first = response.place(0)
    first.set(Buffer.from('hello'))
    response.found(1, Buffer.from('world'))
    expect(response.finish().buffer).toBe(first.buffer)
  })

  test('reports the last status that was set for a blob', () => {
    const response = batchReadResponse(digestListOf('sha256', [hello]), 10)
    response.place(0)
    response.absent(0)
    expect(read(response.finish())).toMatchObject([{ status: { code: 5 }, data: new Uint8Array() }])
  })

  test('copies compressed bytes, so that the caller may reuse its buffer', () => {
    const response = batchReadResponse(digestListOf('sha256', [hello]), 10)
    const bytes = Buffer.from('packd')
    response.found(0, bytes, 'zstd')
    bytes.fill(0)
    expect(read(response.finish())).toMatchObject([{ data: Uint8Array.from(Buffer.from('packd')), compressor: 1 }])
  })

  test('is refused before allocation when the blobs exceed the batch limit', () => {
    const digests = digestListOf('sha256', [hello, { ...hello, size: 2 ** 50 }])
    expect(() => batchReadResponse(digests, 4_000_000)).toThrow('one batch at most 4000000')
  })

  test('throws when a blob differs in size from its digest', () => {
    const response = batchReadResponse(digestListOf('sha256', [hello]), 10)
    expect(() => response.found(0, Buffer.from('hi'))).toThrow('blob 0 has 2 bytes, not 5')
  })
})
