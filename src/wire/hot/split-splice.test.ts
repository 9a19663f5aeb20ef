import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestListOf } from '../../base/digest-list.ts'
import { digestFunctionNumber, digestToProto } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
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
import { readSpliceBlobRequest, readSplitBlobRequest, spliceBlobResponse, splitBlobResponse } from './split-splice.ts'

const aRequest = aFunction.chain((fn) =>
  fc.record({
    instance: anInstance,
    blobDigest: aDigest(fn),
    chunks: fc.array(aDigest(fn), { maxLength: 8 }),
    chunking: fc.constantFrom(0, 1, 2),
  }),
)
type Sent = typeof aRequest extends fc.Arbitrary<infer T> ? T : never
const part = ({ instance, blobDigest, chunking }: Sent) => ({
  instanceName: instance,
  blobDigest: digestToProto(blobDigest),
  digestFunction: digestFunctionNumber(blobDigest.fn),
  chunkingFunction: chunking as 0,
})
const splice = (sent: Sent): Uint8Array =>
  encodedAs(proto.SpliceBlobRequest, { ...part(sent), chunkDigests: sent.chunks.map(digestToProto) })

test('SplitBlobRequest and SpliceBlobRequest round-trip', () => {
  fc.assert(
    fc.property(aRequest, (sent) => {
      const { chunks, ...rest } = sent
      expect(readSplitBlobRequest(amid(encodedAs(proto.SplitBlobRequest, part(sent))))).toEqual(rest)
      const read = readSpliceBlobRequest(amid(splice(sent)))
      expect({ ...read, chunks: digestsIn(read.chunks) }).toEqual(sent)
    }),
  )
})

test('damaged requests are refused, or read the same as with another parser', () => {
  fc.assert(
    fc.property(damaged(aRequest.map(splice)), (bytes) => {
      orRefused(() => readSplitBlobRequest(amid(bytes)))
      const read = orRefused(() => readSpliceBlobRequest(amid(bytes)))
      if (read === undefined) return
      const theirs = judged(`${REAPI}.SpliceBlobRequest`, bytes)
      expect(theirs).toMatchObject({
        instanceName: read.instance,
        blobDigest: { hash: read.blobDigest.hash },
        chunkDigests: digestsIn(read.chunks).map(({ hash, size }) => ({ hash, sizeBytes: BigInt(size) })),
        chunkingFunction: read.chunking,
      })
      expect(theirs.chunkDigests).toHaveLength(read.chunks.count)
    }),
    { numRuns: ACCIDENTS },
  )
})

test('a SpliceBlobRequest with a blob and chunks of different functions is refused', () => {
  const bytes = encodedAs(proto.SpliceBlobRequest, {
    blobDigest: { hash: 'ab'.repeat(32) },
    chunkDigests: [{ hash: 'ab'.repeat(20) }],
  })
  expect(() => readSpliceBlobRequest(bytes)).toThrow('a hash of sha256 has 64 hex digits, and this one 40')
})

test('a SplitBlobRequest without a blob digest is refused', () => {
  expect(() => readSplitBlobRequest(new Uint8Array())).toThrow('a digest has no hash')
})

test('SplitBlobResponse and SpliceBlobResponse decode with the generated code', () => {
  fc.assert(
    fc.property(aRequest, ({ blobDigest, chunks, chunking }) => {
      const split = splitBlobResponse(digestListOf(blobDigest.fn, chunks), chunking)
      const expected = { chunkDigests: chunks.map(digestToProto), chunkingFunction: chunking }
      expect(proto.SplitBlobResponse.decode(split)).toEqual(expected)
      const spliced = proto.SpliceBlobResponse.decode(spliceBlobResponse(blobDigest))
      expect(spliced).toEqual({ blobDigest: digestToProto(blobDigest) })
    }),
  )
})
