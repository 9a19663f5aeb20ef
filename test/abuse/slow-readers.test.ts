import { describe, expect, test } from 'vitest'
import { MAX_WINDOW, SETTING } from '../../src/grpc/http2/wire-format.ts'
import { heldBytes } from '../../src/testing/held-memory.ts'
import { call, windowUpdate } from '../../src/testing/http2-frames.ts'
import type { RawHttp2 } from '../../src/testing/raw-http2.ts'
import { PATHS, wanted } from './abuse-service.ts'
import { type WatchedServer, watchedServer } from './abused-server.ts'

const MiB = 1 << 20
const STREAM_CAP = MiB
const CONNECTION_CAP = 4 * MiB

/** All windows wide open: only the network and the server's own restraint are left. */
async function greedy(server: WatchedServer): Promise<RawHttp2> {
  const client = await server.connect({ settings: [[SETTING.initialWindowSize, MAX_WINDOW]] })
  client.send(windowUpdate(0, MAX_WINDOW - 65_535))
  await client.roundTrip()
  return client
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Watches what the server holds for its only connection, until the work is done. */
async function mostHeldWhile(server: WatchedServer, work: Promise<void>): Promise<number> {
  let most = 0
  let isDone = false
  const finished = work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    most = Math.max(most, heldFor(server))
    await turn()
  }
  await finished
  return most
}

function heldFor({ connections }: WatchedServer): number {
  const { http2 } = connections[0] as WatchedServer['connections'][number]
  return http2.turns.pendingBytes + http2.outbox.backlog
}

/** Nothing moves any more: the kernel's buffers are full and everyone waits. */
async function untilStuck(server: WatchedServer): Promise<void> {
  let before = -1
  for (let same = 0; same < 200; ) {
    await turn()
    const now = heldFor(server)
    same = now === before ? same + 1 : 0
    before = now
  }
}

describe('a reader that takes nothing', () => {
  test('has less than 1 MiB held for its only stream', async () => {
    await using server = await watchedServer()
    const client = await greedy(server)
    client.pause()
    client.send(call(1, PATHS.stream, wanted(64 * 1024, 1_000_000)))
    const most = await mostHeldWhile(server, untilStuck(server))
    expect(most).toBeGreaterThan(256 * 1024)
    expect(most).toBeLessThanOrEqual(STREAM_CAP)
    await server.expectServing()
  })

  // Handlers that fetch before they write are as many writes ahead as there are of them: whoever fetches bulk data
  // must bound how much of it is fetched at once. Here are those that write when there is room.
  test.each([
    { what: 'streams', path: PATHS.stream, size: 16 * 1024 },
    { what: 'streams of larger messages', path: PATHS.stream, size: 64 * 1024 },
    { what: 'single answers', path: PATHS.answer, size: 64 * 1024 },
    { what: 'large single answers', path: PATHS.answer, size: 1024 * 1024 },
  ])('has less than 4 MiB held for hundreds of $what', async ({ path, size }) => {
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

describe('a reader that pauses again and again', () => {
  /** Reads so much, waits until the server is stuck, and so on to the end. */
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

  test('gets a stream of 1 GiB without ever having 1 MiB held for it', { timeout: 120_000 }, async () => {
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

  test('gets hundreds of streams without ever having 4 MiB held for them', { timeout: 120_000 }, async () => {
    await using server = await watchedServer()
    const client = await greedy(server)
    client.pause()
    const [streams, count, size] = [400, 16, 16 * 1024 - 5]
    for (let i = 0; i < streams; i++) client.send(call(2 * i + 1, PATHS.stream, wanted(size, count)))
    const total = streams * count * (size + 5)
    const most = await mostHeldWhile(server, readInBouts(server, client, { total, bout: total / 10 }))
    for (let i = 0; i < streams; i++) await client.answer(2 * i + 1)
    expect(client.dataBytes).toBe(total)
    expect(most).toBeLessThanOrEqual(CONNECTION_CAP)
    await server.expectServing()
  })
})
