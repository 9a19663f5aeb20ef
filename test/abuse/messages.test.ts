import { describe, expect, test } from 'vitest'
import { ERROR, SETTING } from '../../src/grpc/http2/wire-format.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { heldBytes } from '../../src/testing/held-memory.ts'
import { call, data, headers, lastData, message, ping, requestBlock, reset } from '../../src/testing/http2-frames.ts'
import { PATHS, wanted } from './abuse-service.ts'
import { abusedServer, watchedServer } from './abused-server.ts'

const MiB = 1 << 20
const PIECE = 16_384

/** The prefix of a message of `size` bytes, and its first `sent` bytes. */
const announced = (size: number, sent: number): Buffer => {
  const bytes = Buffer.alloc(5 + sent)
  bytes.writeUInt32BE(size, 1)
  return bytes
}

describe('a gRPC message', () => {
  test('in DATA frames of one byte each is assembled in less than 8 times its size', async () => {
    await using server = await watchedServer()
    const client = await server.connect()
    const size = MiB
    const body = message(Buffer.alloc(size, 1))
    client.send(headers(1, requestBlock(PATHS.count)))
    await client.roundTrip()
    const before = await heldBytes()
    let most = 0
    for (let at = 0; at < body.length; at += PIECE) {
      const frames = Array.from(body.subarray(at, at + PIECE), (byte) => data(1, Buffer.from([byte])))
      client.send(...frames)
      await client.roundTrip()
      if (at % (8 * PIECE) === 0) most = Math.max(most, (await heldBytes()) - before)
    }
    client.send(lastData(1, Buffer.alloc(0)))
    await client.answer(1)
    expect(client.field(1, 'grpc-status')).toBe('0')
    expect(most).toBeLessThan(8 * size)
    expect(server.budget.used).toBe(0)
    await server.expectServing()
  })

  test('that was announced with 16 MiB and never sent costs less than 32 MiB for 1,000 streams', async () => {
    await using server = await watchedServer()
    const client = await server.connect()
    const before = await heldBytes()
    for (let i = 0; i < 1000; i++)
      client.send(headers(2 * i + 1, requestBlock(PATHS.count)), data(2 * i + 1, announced(16 * MiB, 1)))
    await client.roundTrip()
    expect(server.handlers.running).toBe(1000)
    expect((await heldBytes()) - before).toBeLessThan(32 * MiB)
    await server.expectServing()
  })

  test('that was announced above 16 MiB is refused with RESOURCE_EXHAUSTED at once', async () => {
    await using server = await abusedServer()
    const client = await server.connect()
    client.send(headers(1, requestBlock(PATHS.count)), data(1, announced(16 * MiB + 1, 1)))
    await client.answer(1)
    expect(client.field(1, 'grpc-status')).toBe(String(STATUS.resourceExhausted))
    client.send(headers(3, requestBlock(PATHS.echo)), data(3, announced(0xffffffff, 0)))
    await client.answer(3)
    expect(client.field(3, 'grpc-status')).toBe(String(STATUS.resourceExhausted))
    await server.expectServing()
  })
})

describe('half-sent messages', () => {
  test("above the server's buffer cap are refused with RESOURCE_EXHAUSTED", async () => {
    await using server = await watchedServer({ maxConnectionBufferedBytes: 4 * MiB, maxServerBufferedBytes: 8 * MiB })
    const attackers = await Promise.all([1, 2, 3, 4, 5].map(() => server.connect()))
    let refused = 0
    for (const attacker of attackers) {
      for (let i = 0; i < 100; i++) {
        const stream = 2 * i + 1
        attacker.send(headers(stream, requestBlock(PATHS.count)), data(stream, announced(10 * MiB, 0)))
        for (let sent = 0; sent < 8; sent++) attacker.send(data(stream, Buffer.alloc(PIECE)))
      }
      await attacker.roundTrip()
      for (let i = 0; i < 100; i++) {
        if (attacker.field(2 * i + 1, 'grpc-status') === String(STATUS.resourceExhausted)) refused++
      }
      expect(attacker.isClosed).toBe(false)
    }
    expect(refused).toBeGreaterThan(300)
    expect(server.budget.used).toBeLessThanOrEqual(8 * MiB)
    for (const attacker of attackers) attacker.close()
    await server.ended(attackers.length)
    expect(server.budget.used).toBe(0)
    await server.expectServing()
  })

  test('of one client do not block the small messages of another', async () => {
    await using server = await abusedServer({ maxConnectionBufferedBytes: 2 * MiB })
    const attacker = await server.connect()
    for (let i = 0; i < 60; i++) {
      attacker.send(headers(2 * i + 1, requestBlock(PATHS.count)), data(2 * i + 1, announced(10 * MiB, PIECE - 5)))
      for (let sent = 0; sent < 3; sent++) attacker.send(data(2 * i + 1, Buffer.alloc(PIECE)))
    }
    await attacker.roundTrip()
    await server.expectServing()
  })
})

describe('messages that a handler leaves unread', () => {
  test('are bounded in memory when they are empty', async () => {
    await using server = await watchedServer({ maxConnectionBufferedBytes: 4 * MiB, maxServerBufferedBytes: 8 * MiB })
    const client = await server.connect()
    await client.roundTrip()
    const before = await heldBytes()
    const empties = data(1, Buffer.alloc(16_380)) // 3276 empty messages
    for (let i = 0; i < 15; i++) {
      const stream = 2 * i + 1
      client.send(headers(stream, requestBlock(PATHS.hold)))
      for (let sent = 0; sent < 16; sent++) {
        const frame = Buffer.from(empties)
        frame.writeUInt32BE(stream, 5)
        client.send(frame)
      }
      await client.roundTrip()
    }
    expect((await heldBytes()) - before).toBeLessThan(3 * 8 * MiB)
    await server.expectServing()
  })

  test('are bounded in memory when each arrived among 3,800 PING frames', async () => {
    await using server = await watchedServer()
    const client = await server.connect()
    client.send(headers(1, requestBlock(PATHS.hold)))
    await client.roundTrip()
    const before = await heldBytes()
    const ballast = new Array<Buffer>(3800).fill(ping(1))
    for (let i = 0; i < 1000; i++) {
      client.send(data(1, message(Buffer.from([i]))), ...ballast)
      if (i % 20 === 0) await client.roundTrip()
    }
    await client.roundTrip()
    expect((await heldBytes()) - before).toBeLessThan(8 * MiB)
    await server.expectServing()
  })
})

describe('cancelled calls behind a slow reader', () => {
  test('release their memory', async () => {
    await using server = await watchedServer({ resets: { burst: 1e6, perSecond: 1 } })
    const client = await server.connect({ settings: [[SETTING.initialWindowSize, 0]] })
    for (let i = 0; i < 8; i++) client.send(call(2 * i + 1, PATHS.stream, wanted(500_000, 10)))
    await client.roundTrip()
    const before = await heldBytes()
    for (let i = 8; i < 2008; i++) {
      client.send(call(2 * i + 1, PATHS.echo, Buffer.alloc(16_000)), reset(2 * i + 1))
      if (i % 50 === 0) await client.roundTrip()
    }
    await client.roundTrip()
    expect((await heldBytes()) - before).toBeLessThan(4 * MiB)
    expect(client.goaway?.code).not.toBe(ERROR.enhanceYourCalm)
    await server.expectServing()
  })
})
