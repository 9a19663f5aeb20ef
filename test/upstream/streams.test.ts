import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Method } from '../../src/grpc/service.ts'
import { GrpcError, STATUS } from '../../src/grpc/status.ts'
import { bytesOf, digestOf, put, putOne, upload } from '../../src/storage/blobs.fixture.ts'
import { randomFrom } from '../../src/testing/random-source.ts'
import { statusDetails } from '../../src/wire/google/status.ts'
import { batchUpdateResponse, readBatchUpdateRequest } from '../../src/wire/hot/batch-update.ts'
import { readResponse, readWriteRequest, writeResponse } from '../../src/wire/hot/byte-stream.ts'
import { offering, over, reading, withZstd } from './scripted-upstream.ts'

const random = randomFrom(7_12)
const small = random.bytes(2000)
const big = random.bytes(5_000_000)

describe('a download from an upstream', () => {
  test('resumes at the bytes read when it is interrupted', async () => {
    const offsets: number[] = []
    const Read = reading((offset, send) => {
      offsets.push(offset)
      const end = Math.min(big.length, offset + 1_000_000)
      for (let at = offset; at < end; at += 500_000) send(big.subarray(at, Math.min(end, at + 500_000)))
      if (end < big.length) throw new GrpcError(STATUS.unavailable, 'so long')
    })
    expect((await bytesOf(await over({ Read }), digestOf(big)))?.equals(big)).toBe(true)
    // Data in flight may be lost at the interruption, so the download resumes after the last byte that was read.
    expect(offsets.length).toBeGreaterThan(4)
    expect(offsets).toEqual(offsets.toSorted((one, other) => one - other))
  })

  test('fails with unavailable when its retries make no progress', async () => {
    let calls = 0
    const Read = reading((offset, send) => {
      calls++
      if (offset === 0) send(big.subarray(0, 1000))
      throw new GrpcError(STATUS.unavailable, 'so long')
    })
    await expect(bytesOf(await over({ Read }), digestOf(big))).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    expect(calls).toBeLessThan(10)
  })

  test('is cancelled when its reader stops, and by its signal', async () => {
    let cancelled = 0
    const Read: Method = {
      kind: 'serverStreaming',
      async handle(_, out, call) {
        out.write(readResponse(big.subarray(0, 1000)))
        await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve()))
        cancelled++
      },
    }
    const store = await over({ Read })
    for await (const _ of (await store.read(digestOf(big), { offset: 0 }))?.pieces ?? []) break
    const caller = new AbortController()
    const reader = await store.read(digestOf(big), { offset: 0 }, caller.signal)
    const all = (async () => {
      for await (const _ of reader?.pieces ?? []) caller.abort()
    })()
    await expect(all).rejects.toMatchObject({ fault: { kind: 'cancelled' } })
    await expect.poll(() => cancelled).toBe(2)
  })

  test('is closed when no reader starts, and a later reader opens a new one', async () => {
    let calls = 0
    const Read: Method = {
      kind: 'serverStreaming',
      async handle(_, out, call) {
        if (++calls > 1) return void out.write(readResponse(small))
        out.write(readResponse(small.subarray(0, 10)))
        await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve()))
        calls++
      },
    }
    const reader = await (await over({ Read }, 2000)).read(digestOf(small), { offset: 0 })
    await expect.poll(() => calls).toBe(2)
    const pieces: Buffer[] = []
    for await (const piece of reader?.pieces ?? []) pieces.push(Buffer.from(piece))
    expect(Buffer.concat(pieces).equals(small)).toBe(true)
  })

  test('is undefined when the upstream returns NOT_FOUND', async () => {
    const Read = reading(() => {
      throw new GrpcError(STATUS.notFound, 'no')
    })
    expect(await bytesOf(await over({ Read }), digestOf(big))).toBeUndefined()
  })
})

describe('an upload to an upstream', () => {
  /** Stores received blobs in a map by resource name. */
  const taking = (taken: Map<string, Buffer>): Method => ({
    kind: 'clientStreaming',
    async handle(requests) {
      let name = ''
      const parts: Buffer[] = []
      for await (const bytes of requests) {
        const { resourceName, data, offset } = readWriteRequest(bytes)
        name ||= resourceName
        expect(offset).toBe(parts.reduce((sum, { length }) => sum + length, 0))
        parts.push(Buffer.from(data))
      }
      taken.set(name, Buffer.concat(parts))
      return writeResponse(Buffer.concat(parts).length)
    },
  })

  test('of zstd is decompressed for a server that does not accept zstd', async () => {
    const taken = new Map<string, Buffer>()
    const bytes = Buffer.concat([Buffer.alloc(2_000_000, 1), random.bytes(1_000_000)])
    const zstd = Buffer.concat([
      zstdCompressSync(bytes.subarray(0, 500_000)),
      zstdCompressSync(bytes.subarray(500_000)),
    ])
    const { hash, size } = digestOf(bytes)
    await upload(await over({ Write: taking(taken) }), { digest: digestOf(bytes), bytes: zstd, form: 'zstd' })
    expect([...taken.keys()]).toEqual([`main/uploads/u1/blobs/${hash}/${size}`])
    expect([...taken.values()][0]?.equals(bytes)).toBe(true)
    const packed = await over({ Write: taking(taken), Capabilities: withZstd })
    await upload(packed, { digest: digestOf(bytes), bytes: zstd, form: 'zstd' })
    expect(taken.get(`main/uploads/u1/compressed-blobs/zstd/${hash}/${size}`)?.equals(zstd)).toBe(true)
  })

  test.each([
    ['none', Buffer.from('no zstd')],
    ['cut short', zstdCompressSync(big).subarray(0, 100_000)],
    ['more than it should be', zstdCompressSync(Buffer.alloc(big.length * 10))],
  ])('of zstd that is %s fails as invalid when it is decompressed', async (_, bytes) => {
    const store = await over({ Write: taking(new Map()) })
    await expect(upload(store, { digest: digestOf(big), bytes, form: 'zstd' })).rejects.toMatchObject({
      fault: { kind: 'invalid' },
    })
  })

  test('succeeds when the server has the blob and stops reading', async () => {
    const Write: Method = {
      kind: 'clientStreaming',
      async handle(requests) {
        await requests.next()
        return writeResponse(big.length)
      },
    }
    await upload(await over({ Write }), { digest: digestOf(big), bytes: big })
  })

  test('succeeds when the server returns ALREADY_EXISTS', async () => {
    const Write: Method = {
      kind: 'clientStreaming',
      async handle() {
        throw new GrpcError(STATUS.alreadyExists, 'there')
      },
    }
    await upload(await over({ Write }), { digest: digestOf(big), bytes: big })
  })

  test("is batched with others of the same turn up to the server's batch size, and has its own result", async () => {
    const batches: number[] = []
    const refusal = statusDetails(STATUS.resourceExhausted, 'full', [])
    const BatchUpdate: Method = {
      kind: 'unary',
      handle(bytes) {
        const { digests, blobs } = readBatchUpdateRequest(bytes)
        batches.push(digests.count)
        return batchUpdateResponse(
          digests,
          blobs.map((blob) => (blob[0] === 0 ? refusal : undefined)),
        )
      },
    }
    const store = await over({ BatchUpdate, Capabilities: offering({ maxBatchBytes: 10_000 }) })
    const blobs = Array.from({ length: 30 }, (_, i) => Buffer.alloc(1000, i))
    const ends = await Promise.allSettled(blobs.map((bytes) => putOne(store, bytes)))
    expect(ends.map(({ status }) => status)).toEqual(blobs.map((_, i) => (i === 0 ? 'rejected' : 'fulfilled')))
    expect(ends[0]).toMatchObject({ reason: { fault: { kind: 'exhausted' } } })
    expect(batches.reduce((sum, count) => sum + count, 0)).toBe(30)
    expect(batches.length).toBe(4)
    await put(store, small, small, small)
    expect(batches.at(-1)).toBe(1)
  })
})
