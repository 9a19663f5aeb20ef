import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestFunctionNumber, digestToProto } from '../digests/digest.ts'
import { GetTreeRequest } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import {
  ACCIDENTS,
  aDigest,
  aFunction,
  amid,
  anInstance,
  damaged,
  encodedAs,
  judged,
  orRefused,
  REAPI,
  someText,
} from '../messages/messages.fixture.ts'
import { getTreeResponse, readGetTreeRequest, treeEntryLength } from './get-tree.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const aRequest = fc.record({
  instance: anInstance,
  rootDigest: aFunction.chain(aDigest),
  pageSize: fc.nat(2 ** 31 - 1),
  pageToken: someText,
})
type Sent = typeof aRequest extends fc.Arbitrary<infer T> ? T : never
const encoded = ({ instance, rootDigest, ...rest }: Sent): Uint8Array =>
  encodedAs(GetTreeRequest, {
    instanceName: instance,
    rootDigest: digestToProto(rootDigest),
    digestFunction: digestFunctionNumber(rootDigest.fn),
    ...rest,
  })

test('GetTreeRequest round-trips', () => {
  fc.assert(
    fc.property(aRequest, (sent) => {
      expect(readGetTreeRequest(amid(encoded(sent)))).toEqual(sent)
    }),
  )
})

test('a damaged GetTreeRequest is refused, or reads the same as with another parser', () => {
  fc.assert(
    fc.property(damaged(aRequest.map(encoded)), (bytes) => {
      const read = orRefused(() => readGetTreeRequest(amid(bytes)))
      if (read === undefined) return
      const { instance, rootDigest, ...rest } = read
      expect(judged(`${REAPI}.GetTreeRequest`, bytes)).toMatchObject({
        instanceName: instance,
        rootDigest: { hash: rootDigest.hash, sizeBytes: BigInt(rootDigest.size) },
        ...rest,
      })
    }),
    { numRuns: ACCIDENTS },
  )
})

test('a negative page size is refused', () => {
  const bytes = encodedAs(GetTreeRequest, { rootDigest: { hash: HASH }, pageSize: -1 })
  expect(() => readGetTreeRequest(bytes)).toThrow('page_size is negative')
})

test('GetTreeResponse contains the directories unchanged, and treeEntryLength gives its exact length', () => {
  const directories = ['0a030a0161', '', `1a06${'0a0162120178'}`].map((hex) => Buffer.from(hex, 'hex'))
  const foretold = directories.reduce((sum, { length }) => sum + treeEntryLength(length), 0)
  const last = getTreeResponse(directories, '')
  expect(last).toHaveLength(foretold)
  expect(Buffer.from(last).toString('hex')).toBe('0a050a030a01610a000a081a060a0162120178')
  const theirs = judged(`${REAPI}.GetTreeResponse`, getTreeResponse(directories, '页'))
  expect(theirs).toMatchObject({
    nextPageToken: '页',
    directories: [{ files: [{ name: 'a' }] }, {}, { symlinks: [{ name: 'b' }] }],
  })
})
