import { describe, expect, test } from 'vitest'
import { heldBytes } from '../../src/testing/held-memory.ts'
import { call } from '../../src/testing/http2-frames.ts'
import type { RawHttp2 } from '../../src/testing/raw-http2.ts'
import { PATHS, wanted } from './abuse-service.ts'
import { type WatchedServer, watchedServer } from './abused-server.ts'
import { CONNECTION_CAP, greedy, MiB, mostHeldWhile, STREAM_CAP, untilStuck } from './greedy-client.ts'

describe('a client that reads nothing', () => {
  test('has less than 1 MiB buffered for its only stream', async () => {
    await using server = await watchedServer()
    const client = await greedy(server)
    client.pause()
    client.send(call(1, PATHS.stream, wanted(64 * 1024, 1_000_000)))
    const most = await mostHeldWhile(server, untilStuck(server))
    expect(most).toBeGreaterThan(256 * 1024)
    expect(most).toBeLessThanOrEqual(STREAM_CAP)
    await server.expectServing()
  })

  // Handlers that fetch before they write reserve buffer space first; otherwise each could be one write ahead.
  test.each([
    { what: 'streams', path: PATHS.stream, size: 16 * 1024 },
    { what: 'streams of larger messages', path: PATHS.stream, size: 64 * 1024 },
    { what: 'single answers', path: PATHS.answer, size: 64 * 1024 },
    { what: 'large single answers', path: PATHS.answer, size: 1024 * 1024 },
    { what: 'answers that are fetched first', path: PATHS.fetch, size: 64 * 1024 },
    { what: 'large answers that are fetched first', path: PATHS.fetch, size: 1024 * 1024 },
    { what: 'answers as large as may be', path: PATHS.fetch, size: 4 * MiB - 128 * 1024 },
    { what: 'streams that are fetched', path: PATHS.fetchStream, size: 256 * 1024 },
  ])('has less than 4 MiB buffered for 500 $what', async ({ path, size }) => {
    await using server = await watchedServer()
    const client = await greedy(server)
    const before = await heldBytes()
    client.pause()
    for (let i = 0; i < 500; i++) client.send(call(2 * i + 1, path, wanted(size, 1000)))
    const most = await mostHeldWhile(server, untilStuck(server))
    expect(most).toBeLessThanOrEqual(CONNECTION_CAP)
    expect((await heldBytes()) - before).toBeLessThan(16 * MiB)
    await server.expectServing()
  })
})

describe('a client that pauses reading repeatedly', () => {
  /** Reads `bout` bytes, waits until the server is stuck, and repeats this to the end. */
  const readInBouts = async (
    server: WatchedServer,
    client: RawHttp2,
    { total, bout }: { total: number; bout: number },
  ) => {
    for (let next = bout; client.dataBytes < total; next += bout) {
      const upTo = Math.min(next, total)
      client.resume()
      await client.until(`${upTo} bytes have come`, () => client.dataBytes >= upTo)
      client.pause()
      await untilStuck(server)
    }
    client.resume()
  }

  test('gets a stream of 1 GiB while less than 1 MiB is buffered for it', async () => {
    await using server = await watchedServer()
    const client = await greedy(server)
    const count = 4096
    const size = 256 * 1024 - 5
    client.pause()
    const before = await heldBytes()
    client.send(call(1, PATHS.stream, wanted(size, count)))
    const total = count * (size + 5)
    const most = await mostHeldWhile(server, readInBouts(server, client, { total, bout: total / 20 }))
    await client.answer(1)
    expect(client.field(1, 'grpc-status')).toBe('0')
    expect(client.dataBytes).toBe(total)
    expect(most).toBeLessThanOrEqual(STREAM_CAP)
    expect((await heldBytes()) - before).toBeLessThan(16 * MiB)
    await server.expectServing()
  })

  test.each([
    { what: 'streams', path: PATHS.stream, count: 16, size: 16 * 1024 - 5 },
    { what: 'streams that are fetched', path: PATHS.fetchStream, count: 2, size: 256 * 1024 - 5 },
    { what: 'fetched answers', path: PATHS.fetch, count: 1, size: 256 * 1024 - 5 },
  ])('gets 400 $what while less than 4 MiB is buffered for them', async ({ path, count, size }) => {
    await using server = await watchedServer()
    const client = await greedy(server)
    client.pause()
    const streams = 400
    for (let i = 0; i < streams; i++) client.send(call(2 * i + 1, path, wanted(size, count)))
    const total = streams * count * (size + 5)
    const most = await mostHeldWhile(server, readInBouts(server, client, { total, bout: total / 10 }))
    for (let i = 0; i < streams; i++) await client.answer(2 * i + 1)
    expect(client.dataBytes).toBe(total)
    expect(most).toBeLessThanOrEqual(CONNECTION_CAP)
    await server.expectServing()
  })
})
