import { setTimeout as sleep } from 'node:timers/promises'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Blob } from '../../src/check/reapi/probe/blob.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { type CacheClient, refusal } from './cache-client.ts'
import { clientOf } from './in-process.ts'
import { packsServer } from './packs-server.ts'

const MiB = 1024 * 1024
const TEN_MINUTES = 600_000

/**
 * Sends the first part of a blob and cancels; returns the committed size that the server reports, once it is not zero.
 */
async function brokenOff(client: CacheClient, name: string, bytes: Uint8Array): Promise<number> {
  for (let pauseMs = 50; ; pauseMs *= 2) {
    const upload = client.bytestream.open()
    for (let at = 0; at < bytes.length; at += MiB) {
      const resourceName = at === 0 ? name : ''
      await upload.write({ resourceName, writeOffset: at, data: bytes.subarray(at, at + MiB) })
    }
    // Messages that the server has not read when the stream is cancelled are lost.
    await sleep(pauseMs)
    upload.cancel()
    await upload.answer.catch(() => {})
    await sleep(pauseMs)
    const { committedSize } = await client.bytestream.query(name)
    if (committedSize > 0) return committedSize
  }
}

/** The messages that send the rest of a blob. */
const rest = (resourceName: string, { bytes }: Blob, from: number) => [
  { resourceName, writeOffset: from, data: bytes.subarray(from, from + 2 * MiB) },
  { writeOffset: Math.min(bytes.length, from + 2 * MiB), data: bytes.subarray(from + 2 * MiB), finishWrite: true },
]

describe('an interrupted upload', () => {
  test.each([300_000, 3 * MiB, 9 * MiB])('resumes at its committed size, with a blob of %d bytes', async (size) => {
    const client = clientOf((await packsServer({})).grpc)
    const blob = client.blob(size)
    const name = client.names.write(blob.digest)
    const kept = await brokenOff(client, name, blob.bytes.subarray(0, size >> 1))
    expect(kept).toBeGreaterThan(0)
    expect(kept).toBeLessThanOrEqual(size >> 1)
    expect(await client.missing([blob])).toEqual([blob])
    expect((await client.bytestream.send(rest(name, blob, kept))).committedSize).toBe(size)
    expect(Buffer.compare(await client.read(blob), blob.bytes)).toBe(0)
    expect(await client.bytestream.query(name)).toMatchObject({ committedSize: size, complete: true })
  })

  test('can be interrupted several times and restarted from offset 0', async () => {
    const client = clientOf((await packsServer({})).grpc)
    const blob = client.blob(9 * MiB)
    const name = client.names.write(blob.digest)
    await brokenOff(client, name, blob.bytes.subarray(0, 2 * MiB))
    await brokenOff(client, name, blob.bytes.subarray(0, 5 * MiB))
    expect((await client.bytestream.send(rest(name, blob, 0))).committedSize).toBe(9 * MiB)
    expect(Buffer.compare(await client.read(blob), blob.bytes)).toBe(0)
  })

  test('cannot be resumed at another offset or under another resource name', async () => {
    const client = clientOf((await packsServer({})).grpc)
    const blob = client.blob(3 * MiB)
    const name = client.names.write(blob.digest)
    const kept = await brokenOff(client, name, blob.bytes.subarray(0, MiB))
    const { code, message } = await refusal(client.bytestream.send(rest(name, blob, kept - 1)))
    expect([code, message]).toEqual([
      STATUS.invalidArgument,
      `write_offset is ${kept - 1}, but ${kept} bytes have been written`,
    ])
    const other = client.names.write(blob.digest)
    expect((await refusal(client.bytestream.send(rest(other, blob, kept)))).code).toBe(STATUS.invalidArgument)
    // Neither attempt changed the upload.
    expect((await client.bytestream.send(rest(name, blob, kept))).committedSize).toBe(3 * MiB)
  })

  test('is discarded after ten minutes and restarts from offset 0', async () => {
    const doorClock = manualClock()
    const client = clientOf((await packsServer({ doorClock })).grpc)
    const blob = client.blob(9 * MiB)
    const name = client.names.write(blob.digest)
    const kept = await brokenOff(client, name, blob.bytes.subarray(0, 6 * MiB))
    doorClock.advance(TEN_MINUTES - 1)
    expect((await client.bytestream.query(name)).committedSize).toBe(kept)
    doorClock.advance(1)
    expect(await client.bytestream.query(name)).toMatchObject({ committedSize: 0, complete: false })
    expect((await refusal(client.bytestream.send(rest(name, blob, kept)))).message).toBe(
      `write_offset is ${kept}, but nothing has been written`,
    )
    expect((await client.bytestream.send(rest(name, blob, 0))).committedSize).toBe(9 * MiB)
  })

  test('restarts from offset 0 when it was compressed, because its position is unknown', async () => {
    const client = clientOf((await packsServer({})).grpc)
    const blob = client.blob(3 * MiB)
    const packed = zstdCompressSync(blob.bytes)
    const name = client.names.write(blob.digest, { compressor: 'zstd' })
    const upload = client.bytestream.open()
    await upload.write({ resourceName: name, data: packed.subarray(0, MiB) })
    await sleep(50)
    upload.cancel()
    await upload.answer.catch(() => {})
    expect((await client.bytestream.query(name)).committedSize).toBe(0)
    expect(await client.bytestream.write(name, packed)).toBe(packed.length)
    expect(Buffer.compare(await client.read(blob), blob.bytes)).toBe(0)
  })
})

describe('two uploads with one resource name', () => {
  test('both succeed when they run concurrently, each with its own stream', async () => {
    const server = await packsServer({})
    const [one, two] = [clientOf(server.grpc), clientOf(server.grpc)]
    const blob = one.blob(9 * MiB)
    const name = one.names.write(blob.digest)
    const uploads = [one, two].map(({ bytestream }) => bytestream.open())
    for (let at = 0; at < blob.bytes.length; at += MiB) {
      const data = blob.bytes.subarray(at, at + MiB)
      const finishWrite = at + MiB >= blob.bytes.length
      for (const upload of uploads) await upload.write({ resourceName: name, writeOffset: at, data, finishWrite })
    }
    for (const upload of uploads) upload.finish()
    const answers = await Promise.all(uploads.map(({ answer }) => answer))
    expect(answers.map(({ committedSize }) => committedSize)).toEqual([9 * MiB, 9 * MiB])
    expect(Buffer.compare(await one.read(blob), blob.bytes)).toBe(0)
  })

  test('are independent: wrong bytes fail only their own upload', async () => {
    const server = await packsServer({})
    const [honest, other] = [clientOf(server.grpc), clientOf(server.grpc)]
    const blob = honest.blob(6 * MiB)
    const name = honest.names.write(blob.digest)
    const [good, bad] = [honest.bytestream.open(), other.bytestream.open()]
    const half = 3 * MiB
    await good.write({ resourceName: name, data: blob.bytes.subarray(0, half) })
    await bad.write({ resourceName: name, data: Buffer.alloc(half) })
    await bad.write({ writeOffset: half, data: Buffer.alloc(half), finishWrite: true })
    bad.finish()
    expect((await refusal(bad.answer)).code).toBe(STATUS.invalidArgument)
    expect(await honest.missing([blob])).toEqual([blob])
    await good.write({ writeOffset: half, data: blob.bytes.subarray(half), finishWrite: true })
    good.finish()
    expect((await good.answer).committedSize).toBe(6 * MiB)
    expect(Buffer.compare(await other.read(blob), blob.bytes)).toBe(0)
  })

  test('both report the whole size, also the one that ends last', async () => {
    const server = await packsServer({})
    const [slow, fast] = [clientOf(server.grpc), clientOf(server.grpc)]
    const blob = slow.blob(6 * MiB)
    const name = slow.names.write(blob.digest)
    const kept = await brokenOff(slow, name, blob.bytes.subarray(0, MiB))
    expect(await fast.bytestream.write(name, blob.bytes)).toBe(6 * MiB)
    expect((await slow.bytestream.send(rest(name, blob, kept))).committedSize).toBe(6 * MiB)
  })
})

describe('an upload of a stored blob', () => {
  test.each([
    ['identity', 9 * MiB],
    ['zstd', -1],
  ])('is acknowledged after its first message (%s)', async (compressor, committedSize) => {
    const client = clientOf((await packsServer({})).grpc)
    const blob = client.blob(9 * MiB)
    await client.write(blob)
    const upload = client.bytestream.open()
    const options = compressor === 'identity' ? {} : { compressor }
    await upload.write({ resourceName: client.names.write(blob.digest, options), data: blob.bytes.subarray(0, 1000) })
    // Only the first message has been sent, and the server has responded.
    const answer = await upload.answer
    expect(answer.committedSize).toBe(committedSize)
    // A client that has not read the response may go on sending.
    for (let at = 1000; at < 3 * MiB; at += MiB) {
      await upload.write({ writeOffset: at, data: blob.bytes.subarray(at, at + MiB) })
    }
    upload.finish()
    expect(await client.missing([blob])).toEqual([])
  })
})
