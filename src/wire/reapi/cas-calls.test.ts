import { describe, expect, test } from 'vitest'
import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from '../../base/digest.ts'
import { digestAt, digestListOf } from '../../base/digest-list.ts'
import type { Directory } from '../../model/directory.ts'
import { readReadResponse, readWriteResponse } from '../calls/byte-stream.ts'
import { statusDetails } from '../google/status.ts'
import { batchReadResponse, readBatchReadRequest } from '../hot/batch-read.ts'
import { batchUpdateResponse, readBatchUpdateRequest } from '../hot/batch-update.ts'
import { readReadRequest, readResponse, readWriteRequest, writeResponse } from '../hot/byte-stream.ts'
import { findMissingResponse, readFindMissingRequest } from '../hot/find-missing.ts'
import {
  batchReadFromProto,
  batchReadToProto,
  batchUpdatedFromProto,
  batchUpdateToProto,
  findMissingToProto,
  missingFromProto,
  readToProto,
  treeDirectories,
  writeToProto,
} from './cas-calls.ts'
import { directoryToProto, treeToProto } from './directory.ts'

const digest = (fn: DigestFunction, size: number): Digest => ({
  fn,
  hash: size.toString(16).padStart(DIGEST_FUNCTIONS[fn].hashBytes * 2, '0'),
  size,
})

/** Each client message is read by the server's code, and the other way round. */
describe.each(['sha256', 'blake3', 'sha512'] as const)('CAS calls with %s', (fn) => {
  const scope = { instance: 'a/b', fn }
  const digests = [digest(fn, 3), digest(fn, 5), digest(fn, 0)]

  test('FindMissingBlobs: the request round-trips, and the response names the missing blob', () => {
    const request = readFindMissingRequest(findMissingToProto(scope, digests))
    expect(request).toMatchObject({ instance: 'a/b', digests: digestListOf(fn, digests) })
    const answer = findMissingResponse(request, Uint8Array.of(0, 1, 0))
    expect(missingFromProto(answer, fn)).toEqual([digests[1]])
  })

  test('BatchUpdateBlobs: the request round-trips, and the response has a status per blob', () => {
    const blobs = digests.map((one, i) => ({
      digest: one,
      data: Buffer.alloc(one.size, i),
      compressor: i === 1 ? ('zstd' as const) : ('identity' as const),
    }))
    const request = readBatchUpdateRequest(batchUpdateToProto(scope, blobs))
    expect(request.instance).toBe('a/b')
    expect(request.digests.fn).toBe(fn)
    expect(request.compressors).toEqual(['identity', 'zstd', 'identity'])
    expect(request.blobs.map((data) => Buffer.from(data))).toEqual(blobs.map(({ data }) => data))
    const answer = batchUpdateResponse(request.digests, [undefined, statusDetails(8, 'full', []), undefined])
    expect(batchUpdatedFromProto(answer, fn).map(({ code, message }) => [code, message])).toEqual([
      [0, ''],
      [8, 'full'],
      [0, ''],
    ])
  })

  test('BatchReadBlobs: the request round-trips, and the response has data, or NOT_FOUND for an absent blob', () => {
    const request = readBatchReadRequest(batchReadToProto(scope, digests))
    expect(request).toMatchObject({ instance: 'a/b', acceptable: [] })
    expect(digestAt(request.digests, 1)).toEqual(digests[1])
    const response = batchReadResponse(request.digests, 100)
    response.found(0, Buffer.from('abc'))
    response.found(2, Buffer.alloc(0))
    const got = batchReadFromProto(response.finish(), fn)
    expect(got.map(({ code, data }) => [code, Buffer.from(data).toString()])).toEqual([
      [0, 'abc'],
      [5, ''],
      [0, ''],
    ])
  })
})

test('a blob that the server compressed without request is refused', () => {
  const request = readBatchReadRequest(batchReadToProto({ instance: '', fn: 'sha256' }, [digest('sha256', 3)]))
  const response = batchReadResponse(request.digests, 100)
  response.found(0, Buffer.from('packed'), 'zstd')
  expect(() => batchReadFromProto(response.finish(), 'sha256')).toThrow('although no compression was requested')
})

test('ByteStream: read and write messages round-trip', () => {
  expect(readReadRequest(readToProto('blobs/x/3'))).toEqual({ resourceName: 'blobs/x/3', offset: 0, limit: 0 })
  expect(Buffer.from(readReadResponse(Buffer.concat(readResponse(Buffer.from('abc')))))).toEqual(Buffer.from('abc'))
  const piece = { resourceName: 'uploads/1/blobs/x/3', offset: 7, isLast: true, data: Buffer.from('abc') }
  const { data, ...rest } = readWriteRequest(writeToProto(piece))
  expect(rest).toEqual({ resourceName: 'uploads/1/blobs/x/3', offset: 7, finish: true })
  expect(Buffer.from(data)).toEqual(piece.data)
  expect([readWriteResponse(writeResponse(10)), readWriteResponse(writeResponse(-1))]).toEqual([10, -1])
})

test.each([
  ['a digest that is none', () => missingFromProto(Uint8Array.of(0x12, 3, 0x0a, 1, 0x61), 'sha256')],
  ['a message without its end', () => readReadResponse(Uint8Array.of(0x52, 9))],
  ['an answer about nothing', () => batchUpdatedFromProto(Uint8Array.of(0x0a, 0), 'sha256')],
  ['a status that is none', () => batchUpdatedFromProto(Uint8Array.of(0x0a, 4, 0x12, 2, 0x12, 9), 'sha256')],
  ['a tree without a root', () => treeDirectories(new Uint8Array())],
])("a server's response with %s is refused as invalid", (_, read) => {
  expect(read).toThrow(expect.objectContaining({ fault: expect.objectContaining({ kind: 'invalid' }) }))
})

test('treeDirectories returns the original bytes of each directory', () => {
  const child: Directory = { files: [], directories: [], symlinks: [], properties: undefined }
  const root: Directory = {
    ...child,
    files: [{ name: 'a', digest: digest('sha256', 3), executable: true, properties: undefined }],
  }
  const { root: top, children } = treeDirectories(treeToProto({ root, children: [child, root] }))
  expect([top, ...children].map((bytes) => Buffer.from(bytes))).toEqual(
    [root, child, root].map((one) => Buffer.from(directoryToProto(one))),
  )
})
