import { describe, expect, test } from 'vitest'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { COMPRESSORS } from '../../model/compressor.ts'
import { randomFrom } from '../../testing/random-source.ts'
import { statusDetails } from '../google/status.ts'
import { readGetActionResultRequest, readUpdateActionResultRequest } from '../hot/action-cache.ts'
import { batchReadResponse, readBatchReadRequest } from '../hot/batch-read.ts'
import { batchUpdateResponse, readBatchUpdateRequest } from '../hot/batch-update.ts'
import { readReadRequest, readResponse, readWriteRequest, writeResponse } from '../hot/byte-stream.ts'
import { findMissingResponse, readFindMissingRequest } from '../hot/find-missing.ts'
import { getActionResultRequest, updateActionResultRequest } from './action-cache.ts'
import { readReadResponse, readRequest, readWriteResponse, writeRequest } from './byte-stream.ts'
import {
  blobKeyAt,
  readBatchReadResponse,
  readBatchUpdateResponse,
  readFindMissingResponse,
} from './content-answers.ts'
import { batchReadRequest, batchUpdateRequest, findMissingRequest } from './content-requests.ts'

/** Each message is written by one side's code and read by the other side's. */
const random = randomFrom(31_07)
const SIZES = [0, 1, 127, 128, 70_000, 2 ** 40, Number.MAX_SAFE_INTEGER]
const functions = Object.keys(DIGEST_FUNCTIONS) as DigestFunction[]
const listOf = (fn: DigestFunction, sizes: readonly number[]) =>
  digestListOf(
    fn,
    sizes.map((size) => ({ fn, hash: random.bytes(DIGEST_FUNCTIONS[fn].hashBytes).toString('hex'), size })),
  )

describe.each(functions)('messages with digests of %s', (fn) => {
  test.each(['', 'main', 'a/b/ü'])('round-trip for instance "%s"', (instance) => {
    const list = listOf(fn, SIZES)
    for (const read of [
      readFindMissingRequest(findMissingRequest(instance, list)),
      readBatchReadRequest(batchReadRequest(instance, list)),
    ]) {
      expect(read.instance).toBe(instance)
      expect(read.digests).toMatchObject({ fn, count: SIZES.length, sizes: list.sizes })
      expect(Buffer.compare(read.digests.hashes, list.hashes)).toBe(0)
    }
    const blobs = SIZES.map((_, i) => random.bytes(i * 50))
    const forms = [undefined, ...COMPRESSORS, undefined, 'zstd'] as const
    const outgoing = blobs.map((bytes, i) => (forms[i] === undefined ? { bytes } : { bytes, compressor: forms[i] }))
    const update = readBatchUpdateRequest(batchUpdateRequest(instance, list, outgoing))
    expect(update.instance).toBe(instance)
    expect(update.digests.fn).toBe(fn)
    expect(update.compressors).toEqual(SIZES.map((_, i) => forms[i] ?? 'identity'))
    expect(update.blobs.map((blob) => Buffer.from(blob))).toEqual(blobs)
    const action = { fn, hash: Buffer.from(list.hashes.subarray(0, list.width)).toString('hex'), size: 142 }
    expect(readGetActionResultRequest(getActionResultRequest(instance, action))).toMatchObject({
      instance,
      actionDigest: action,
    })
    const result = random.bytes(300)
    const put = readUpdateActionResultRequest(updateActionResultRequest(instance, action, result))
    expect([put.instance, put.actionDigest, Buffer.from(put.result)]).toEqual([instance, action, result])
  })

  test('identify missing blobs by their keys', () => {
    const list = listOf(fn, SIZES)
    const request = readFindMissingRequest(findMissingRequest('', list))
    const absent = Uint8Array.from(SIZES, (_, i) => i % 2)
    const missing = readFindMissingResponse(findMissingResponse(request, absent))
    expect(SIZES.map((_, i) => missing.has(blobKeyAt(list, i)))).toEqual(SIZES.map((_, i) => i % 2 === 1))
  })
})

test('batch responses carry the status and data of each blob', () => {
  const list = listOf('sha256', [0, 5, 3])
  const response = batchReadResponse(list, 1000)
  response.found(0, Buffer.alloc(0))
  response.found(1, Buffer.from('bytes'))
  const read = readBatchReadResponse(response.finish())
  expect(read.map(({ key, status, data }) => [key, status.code, Buffer.from(data).toString()])).toEqual([
    [blobKeyAt(list, 0), 0, ''],
    [blobKeyAt(list, 1), 0, 'bytes'],
    [blobKeyAt(list, 2), 5, ''],
  ])
  const refusal = statusDetails(8, 'full', [{ kind: 'RetryInfo', retryDelayMs: 500 }])
  expect(readBatchUpdateResponse(batchUpdateResponse(list, [undefined, refusal, undefined]))).toMatchObject([
    { status: { code: 0 } },
    { status: { code: 8, message: 'full', details: [{ kind: 'RetryInfo', retryDelayMs: 500 }] } },
    { status: { code: 0 } },
  ])
})

test('ByteStream messages round-trip', () => {
  for (const offset of SIZES) {
    for (const limit of [0, 1, 2 ** 35]) {
      const question = { resourceName: 'main/blobs/ab/1', offset, limit }
      expect(readReadRequest(readRequest(question))).toEqual(question)
    }
    for (const finish of [false, true]) {
      for (const data of [Buffer.alloc(0), random.bytes(200)]) {
        for (const resourceName of ['', 'uploads/u/blobs/ab/1']) {
          const part = { resourceName, offset, finish, data }
          const { data: came, ...rest } = readWriteRequest(Buffer.concat(writeRequest(part)))
          expect([rest, Buffer.from(came)]).toEqual([{ resourceName, offset, finish }, data])
        }
      }
    }
    expect(readWriteResponse(writeResponse(offset))).toBe(offset)
  }
  expect(readWriteResponse(writeResponse(-1))).toBe(-1)
  const data = random.bytes(1000)
  expect(Buffer.from(readReadResponse(Buffer.concat(readResponse(data))))).toEqual(data)
})
