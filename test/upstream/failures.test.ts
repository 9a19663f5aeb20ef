import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Method } from '../../src/grpc/service.ts'
import { GrpcError, STATUS } from '../../src/grpc/status.ts'
import {
  bytesOf,
  digestOf,
  holds,
  listOf,
  manyOf,
  missingOf,
  putOne,
  streamOf,
  upload,
} from '../../src/storage/blobs.fixture.ts'
import { randomFrom } from '../../src/testing/random-source.ts'
import { statusDetails } from '../../src/wire/google/status.ts'
import { batchReadResponse, readBatchReadRequest } from '../../src/wire/hot/batch-read.ts'
import { writeResponse } from '../../src/wire/hot/byte-stream.ts'
import { findMissingResponse, readFindMissingRequest } from '../../src/wire/hot/find-missing.ts'
import { answering, over, reading, storeAt, tinyBatches, withZstd } from './scripted-upstream.ts'

const random = randomFrom(7_11)
const small = random.bytes(2000)
const big = random.bytes(5_000_000)

const failing = (code: GrpcError['code'], details?: Uint8Array): Method => ({
  kind: 'unary',
  handle() {
    throw new GrpcError(code, 'because', details === undefined ? {} : { details })
  },
})

describe('an upstream that fails', () => {
  test.each([
    [STATUS.unavailable, { kind: 'unavailable' }],
    [STATUS.internal, { kind: 'unavailable' }],
    [STATUS.unknown, { kind: 'unavailable' }],
    [STATUS.deadlineExceeded, { kind: 'unavailable' }],
    [STATUS.cancelled, { kind: 'unavailable' }],
    [STATUS.aborted, { kind: 'unavailable' }],
    [STATUS.permissionDenied, { kind: 'denied' }],
    [STATUS.unauthenticated, { kind: 'denied' }],
    [STATUS.invalidArgument, { kind: 'invalid' }],
    [STATUS.unimplemented, { kind: 'invalid', why: 'unsupported' }],
    [STATUS.dataLoss, { kind: 'bug', why: 'data-loss' }],
    [STATUS.resourceExhausted, { kind: 'exhausted', retryAfterMs: 1000 }],
  ] as const)('with status %i is reported as our own fault', async (code, fault) => {
    const store = await over({ Find: failing(code) })
    await expect(missingOf(store, [digestOf(small)])).rejects.toMatchObject({ name: 'FaultError', fault })
  })

  test('with RetryInfo passes its delay on', async () => {
    const details = statusDetails(STATUS.resourceExhausted, 'full', [{ kind: 'RetryInfo', retryDelayMs: 7000 }])
    const store = await over({ Find: failing(STATUS.resourceExhausted, details) })
    await expect(missingOf(store, [digestOf(small)])).rejects.toMatchObject({ fault: { retryAfterMs: 7000 } })
  })

  test('with UNAVAILABLE is called four times in all', async () => {
    let calls = 0
    let isBack = true
    const Find: Method = {
      kind: 'unary',
      handle(bytes) {
        if (++calls < 4 || !isBack) throw new GrpcError(STATUS.unavailable, 'not yet')
        return findMissingResponse(readFindMissingRequest(bytes), Uint8Array.of(1))
      },
    }
    expect(await missingOf(await over({ Find }), [digestOf(small)])).toEqual([true])
    expect(calls).toBe(4)
    calls = 0
    isBack = false
    await expect(missingOf(await over({ Find }), [digestOf(small)])).rejects.toMatchObject({
      fault: { kind: 'unavailable', what: expect.stringContaining('not yet') },
    })
    expect(calls).toBe(4)
  })

  test('to respond in time is unavailable, in a stream too', async () => {
    const never = () => new Promise<never>(() => {})
    const Find: Method = { kind: 'unary', handle: never }
    const fault = { fault: { kind: 'unavailable' } }
    await expect(missingOf(await over({ Find }, 50), [digestOf(small)])).rejects.toMatchObject(fault)
    const Read = reading(async (_, send) => {
      send(big.subarray(0, 1000))
      await never()
    })
    await expect(bytesOf(await over({ Read }, 50), digestOf(big))).rejects.toMatchObject(fault)
    await expect((await over({ Read: reading(never) }, 50)).read(digestOf(big), { offset: 0 })).rejects.toMatchObject(
      fault,
    )
    const Write: Method = { kind: 'clientStreaming', handle: never }
    await expect(upload(await over({ Write }, 50), { digest: digestOf(big), bytes: big })).rejects.toMatchObject(fault)
  })

  test('is unavailable when no server listens', async () => {
    const store = storeAt({ host: '127.0.0.1', port: 1 })
    const fault = { fault: { kind: 'unavailable', what: expect.stringContaining('cannot connect') } }
    await expect(missingOf(store, [digestOf(small)])).rejects.toMatchObject(fault)
    await expect(putOne(store, small)).rejects.toMatchObject(fault)
    await expect(upload(store, { digest: digestOf(small), bytes: small })).rejects.toMatchObject(fault)
  })
})

describe('wrong data of an upstream', () => {
  const wrong = Buffer.from(small).fill(7, 0, 1)
  const wrongBig = Buffer.from(big).fill(big[0] === 7 ? 8 : 7, 0, 1)

  test('for one blob of a batch is data-loss for that blob, and the others are still returned', async () => {
    const honest = random.bytes(100_000)
    const BatchRead: Method = {
      kind: 'unary',
      handle(bytes) {
        const { digests } = readBatchReadRequest(bytes)
        const response = batchReadResponse(digests, 4_000_000)
        response.found(0, wrong)
        response.found(1, honest)
        response.found(2, wrongBig.subarray(0, 300_000))
        return response.finish()
      },
    }
    const digests = [digestOf(small), digestOf(honest), digestOf(big.subarray(0, 300_000))]
    const store = await over({ BatchRead })
    const found: number[] = []
    const sink = {
      found: (index: number) => void found.push(index),
      absent: (index: number) => void found.push(-index),
    }
    await expect(store.readMany(listOf(digests), sink)).rejects.toMatchObject({
      fault: { kind: 'bug', why: 'data-loss', what: expect.stringContaining(digestOf(small).hash) },
    })
    expect(found).toEqual([1])
  })

  test.each([
    ['small', small, wrong],
    ['big', big, wrongBig],
  ])('for a %s blob is data-loss before its last byte is returned', async (_, bytes, sent) => {
    const Read = reading((_, send) => {
      for (let at = 0; at < sent.length; at += 500_000) send(sent.subarray(at, at + 500_000))
    })
    const store = await over({ Read })
    const reader = await store.read(digestOf(bytes), { offset: 0 })
    let have = 0
    const all = (async () => {
      for await (const piece of reader?.pieces ?? []) have += piece.length
    })()
    await expect(all).rejects.toMatchObject({ fault: { kind: 'bug', why: 'data-loss' } })
    expect(have).toBeLessThan(bytes.length)
    await expect(manyOf(await over({ Read, Capabilities: tinyBatches }), [digestOf(bytes)])).rejects.toMatchObject({
      fault: { kind: 'bug', why: 'data-loss' },
    })
  })

  test.each([
    ['too little', small.subarray(1)],
    ['too much', Buffer.concat([small, small])],
    ['without end', Buffer.alloc(10_000_000)],
  ])('of the wrong size (%s) is data-loss', async (_, sent) => {
    const Read = reading((_, send) => send(sent))
    const fault = { fault: { kind: 'bug', why: 'data-loss' } }
    await expect(bytesOf(await over({ Read }), digestOf(small))).rejects.toMatchObject(fault)
    const part = bytesOf(await over({ Read }), digestOf(small), { offset: 10, limit: 5 })
    await expect(part).rejects.toMatchObject(fault)
  })

  test('in invalid, wrong or oversized zstd is data-loss', async () => {
    const text = Buffer.from('text; '.repeat(30_000))
    for (const sent of [
      Buffer.from('no zstd at all'),
      zstdCompressSync(Buffer.alloc(text.length)),
      zstdCompressSync(Buffer.alloc(100_000_000)),
      random.bytes(2_000_000),
    ]) {
      const store = await over({ Read: reading((_, send) => send(sent)), Capabilities: withZstd })
      for (const digest of [digestOf(text), digestOf(text.subarray(0, 60))]) {
        await expect(streamOf(store, digest, { offset: 0, acceptZstd: true })).rejects.toMatchObject({
          fault: { kind: 'bug', why: 'data-loss' },
        })
      }
    }
  })

  test('in malformed messages is reported as unavailable', async () => {
    const garbage = answering(Uint8Array.of(0x12, 0xff, 0xff))
    const fault = { fault: { kind: 'unavailable', what: expect.stringContaining('makes no sense') } }
    const store = await over({ Find: garbage, BatchRead: garbage, BatchUpdate: garbage })
    await expect(missingOf(store, [digestOf(small)])).rejects.toMatchObject(fault)
    await expect(manyOf(store, [digestOf(small)])).rejects.toMatchObject(fault)
    await expect(putOne(store, small)).rejects.toMatchObject(fault)
  })

  test('without some of the requested blobs is reported as unavailable', async () => {
    const nothing = answering(new Uint8Array(0))
    const store = await over({ BatchRead: nothing, BatchUpdate: nothing })
    await expect(manyOf(store, [digestOf(small)])).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    await expect(putOne(store, small)).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
  })

  test('with a wrong committed size is reported as a bug', async () => {
    const Write: Method = {
      kind: 'clientStreaming',
      async handle(requests) {
        for await (const _ of requests);
        return writeResponse(17)
      },
    }
    await expect(upload(await over({ Write }), { digest: digestOf(big), bytes: big })).rejects.toMatchObject({
      fault: { kind: 'bug', what: expect.stringContaining('took 17 bytes') },
    })
  })
})

test('a blob of 2^50 bytes is not read into memory', async () => {
  const digest = { ...digestOf(small), size: 2 ** 50 }
  const Read = reading((_, send) => send(small))
  await expect(manyOf(await over({ Read }), [digest])).rejects.toMatchObject({ fault: { why: 'unsupported' } })
})

test('25,000 digests are looked up in three FindMissingBlobs calls', async () => {
  const counts: number[] = []
  const Find: Method = {
    kind: 'unary',
    handle(bytes) {
      const request = readFindMissingRequest(bytes)
      counts.push(request.digests.count)
      return findMissingResponse(
        request,
        Uint8Array.from(request.digests.sizes, (size) => size % 2),
      )
    },
  }
  const digests = Array.from({ length: 25_000 }, (_, size) => ({ fn: 'sha256', hash: 'ab'.repeat(32), size }) as const)
  const store = await over({ Find })
  expect(await missingOf(store, digests)).toEqual(digests.map(({ size }) => size % 2 === 1))
  expect(counts).toEqual([10_000, 10_000, 5000])
  expect(await holds(store, { ...digestOf(small), size: 2 })).toBe(true)
})
