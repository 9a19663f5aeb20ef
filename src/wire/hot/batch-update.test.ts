import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COMPRESSORS } from '../../model/compressor.ts'
import { digestFunctionNumber, digestToProto } from '../digests/digest.ts'
import {
  BatchUpdateBlobsRequest,
  BatchUpdateBlobsResponse,
} from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { statusDetails } from '../google/status.ts'
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
import { batchUpdateResponse, readBatchUpdateRequest } from './batch-update.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'

const aRequest = aFunction
  .chain((fn) => {
    const blob = fc.record({
      digest: aDigest(fn),
      data: fc.uint8Array({ maxLength: 40 }),
      compressor: fc.constantFrom(0, 1, 2, 3),
    })
    return fc.record({ fn: fc.constant(fn), instance: anInstance, blobs: fc.array(blob, { maxLength: 10 }) })
  })
  .map((sent) => ({
    sent,
    bytes: BatchUpdateBlobsRequest.encode({
      instanceName: sent.instance,
      requests: sent.blobs.map(({ digest, data, compressor }) => ({
        digest: digestToProto(digest),
        data,
        compressor: compressor as 0,
      })),
      digestFunction: digestFunctionNumber(sent.fn),
    }).finish(),
  }))

describe('BatchUpdateBlobsRequest', () => {
  test('round-trips, and its data are views of the message', () => {
    fc.assert(
      fc.property(aRequest, ({ sent, bytes }) => {
        const message = amid(bytes)
        const { instance, digests, blobs, compressors } = readBatchUpdateRequest(message)
        expect(instance).toBe(sent.instance)
        expect(digestsIn(digests)).toEqual(sent.blobs.map(({ digest }) => digest))
        expect(compressors).toEqual(sent.blobs.map(({ compressor }) => COMPRESSORS[compressor]))
        expect(blobs.map((data) => [...data])).toEqual(sent.blobs.map(({ data }) => [...data]))
        for (const data of blobs) if (data.length > 0) expect(data.buffer).toBe(message.buffer)
      }),
    )
  })

  test('when damaged is refused, or reads the same as with another parser', () => {
    fc.assert(
      fc.property(damaged(aRequest.map(({ bytes }) => bytes)), (bytes) => {
        const read = orRefused(() => readBatchUpdateRequest(amid(bytes)))
        if (read === undefined) return
        const theirs = judged(`${REAPI}.BatchUpdateBlobsRequest`, bytes)
        expect(read.instance).toBe(theirs.instanceName)
        const ours = digestsIn(read.digests).map(({ hash, size }, index) => ({
          digest: { hash, sizeBytes: BigInt(size) },
          data: Uint8Array.from(read.blobs[index] ?? []),
        }))
        expect(theirs.requests).toMatchObject(ours)
        expect(theirs.requests).toHaveLength(ours.length)
      }),
      { numRuns: ACCIDENTS },
    )
  })

  test('merges a digest that is split over two fields', () => {
    const hash = Buffer.from(`0a42 0a40${Buffer.from(HASH).toString('hex')}`.replaceAll(' ', ''), 'hex')
    const size = Buffer.from('0a021003', 'hex')
    const bytes = Buffer.concat([Buffer.of(0x12, hash.length + size.length), hash, size])
    expect(digestsIn(readBatchUpdateRequest(bytes).digests)).toEqual([{ fn: 'sha256', hash: HASH, size: 3 }])
  })

  test('with an unknown compressor reads as undefined, so that the door can refuse that blob', () => {
    const requests = [{ digest: { hash: HASH, sizeBytes: 3 }, compressor: 9 as 0 }]
    const bytes = encodedAs(BatchUpdateBlobsRequest, { requests })
    expect(readBatchUpdateRequest(bytes).compressors).toEqual([undefined])
  })

  test('without a digest is refused', () => {
    const bytes = encodedAs(BatchUpdateBlobsRequest, { requests: [{}] })
    expect(() => readBatchUpdateRequest(bytes)).toThrow('a digest has no hash')
  })
})

test('BatchUpdateBlobsResponse has the status of each blob, in order', () => {
  fc.assert(
    fc.property(aRequest, fc.infiniteStream(fc.constantFrom(0, 3, 8)), ({ sent, bytes }, codes) => {
      const { digests } = readBatchUpdateRequest(bytes)
      const ends = sent.blobs.map(() => codes.next().value as number)
      const statuses = ends.map((code) => (code === 0 ? undefined : statusDetails(code, 'no', [])))
      const { responses } = BatchUpdateBlobsResponse.decode(batchUpdateResponse(digests, statuses))
      expect(responses).toEqual(
        sent.blobs.map(({ digest }, index) => ({
          digest: digestToProto(digest),
          status: { code: ends[index], message: ends[index] === 0 ? '' : 'no', details: [] },
        })),
      )
    }),
  )
})
