import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/grpc/http2/limits.ts'
import { ERROR, MAX_WINDOW, SETTING } from '../../src/grpc/http2/wire-format.ts'
import { call, data, headers, requestBlock, settings, windowUpdate } from '../../src/testing/http2-frames.ts'
import type { RawHttp2 } from '../../src/testing/raw-http2.ts'
import { PATHS, wanted } from './abuse-service.ts'
import { type AbusedServer, abusedServer } from './abused-server.ts'

const NO_WINDOW = [[SETTING.initialWindowSize, 0]] as const
const PIECE = Buffer.alloc(16_384)

/** Advances the clock in steps, with a round trip after each, as for a peer that is connected and responds. */
async function letPass(server: AbusedServer, client: RawHttp2, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10_000) {
    server.timing.advance(10_000)
    await client.roundTrip()
  }
}

describe('a flow-control window above 2^31-1', () => {
  test("closes the connection with FLOW_CONTROL_ERROR when it is the connection's window", async () => {
    await using server = await abusedServer()
    const attacker = await server.connect()
    attacker.send(windowUpdate(0, MAX_WINDOW))
    await attacker.untilClosed()
    expect(attacker.goaway?.code).toBe(ERROR.flowControl)
    await server.expectServing()
  })

  test("resets only the stream with FLOW_CONTROL_ERROR when it is a stream's window", async () => {
    await using server = await abusedServer()
    const attacker = await server.connect()
    attacker.send(call(1, PATHS.wait), windowUpdate(1, MAX_WINDOW), call(3, PATHS.echo))
    expect((await attacker.answer(1)).resetCode).toBe(ERROR.flowControl)
    await attacker.answer(3)
    expect(attacker.field(3, 'grpc-status')).toBe('0')
    await server.expectServing()
  })

  test('closes the connection with FLOW_CONTROL_ERROR when SETTINGS caused it', async () => {
    await using server = await abusedServer()
    const attacker = await server.connect()
    attacker.send(call(1, PATHS.wait), windowUpdate(1, 1000), settings([SETTING.initialWindowSize, MAX_WINDOW]))
    await attacker.untilClosed()
    expect(attacker.goaway?.code).toBe(ERROR.flowControl)
    await server.expectServing()
  })
})

describe('a peer that sends more than its window', () => {
  // A peer cannot exceed the connection's window: the server returns it on receipt. `connection.test.ts` has the case
  // where it does not.
  test('gets its stream reset with FLOW_CONTROL_ERROR, and other calls continue', async () => {
    await using server = await abusedServer()
    const attacker = await server.connect()
    const pieces = DEFAULT_LIMITS.initialWindowBytes / PIECE.length
    attacker.send(headers(1, requestBlock(PATHS.hold)), ...new Array<Buffer>(pieces).fill(data(1, PIECE)))
    attacker.send(data(1, Buffer.alloc(1)), call(3, PATHS.echo))
    expect((await attacker.answer(1)).resetCode).toBe(ERROR.flowControl)
    await attacker.answer(3)
    expect(attacker.field(3, 'grpc-status')).toBe('0')
    await server.expectServing()
  })
})

describe('a peer with a window of zero', () => {
  test('gets its responses when it opens the window, and delays no other call meanwhile', async () => {
    await using server = await abusedServer()
    const staller = await server.connect({ settings: NO_WINDOW })
    const other = await server.connect()
    for (const stream of [1, 3, 5]) staller.send(call(stream, PATHS.answer, wanted(1000)))
    other.send(call(1, PATHS.echo))
    await other.answer(1)
    await staller.until('the heads have come', () => [1, 3, 5].every((id) => staller.field(id, ':status') === '200'))
    await staller.roundTrip()
    expect(staller.dataBytes).toBe(0)
    staller.send(windowUpdate(3, 2000))
    await staller.answer(3)
    expect(staller.stream(3).dataBytes).toBe(1005)
    expect([staller.stream(1).hasEnded, staller.stream(5).hasEnded]).toEqual([false, false])
    staller.send(settings([SETTING.initialWindowSize, 65_535]))
    await staller.answer(1)
    await staller.answer(5)
    expect(staller.dataBytes).toBe(3015)
    await server.expectServing()
  })

  test('loses a stream that it did not read for stallMs, and only that stream', async () => {
    await using server = await abusedServer()
    const staller = await server.connect({ settings: NO_WINDOW })
    staller.send(call(1, PATHS.stream, wanted(1000, 10)), call(3, PATHS.stream, wanted(1000, 1)))
    await staller.roundTrip()
    await letPass(server, staller, DEFAULT_LIMITS.stallMs - 20_000)
    expect([staller.stream(1).resetCode, staller.stream(3).resetCode]).toEqual([undefined, undefined])
    staller.send(windowUpdate(3, 10))
    await staller.roundTrip()
    await letPass(server, staller, 60_000)
    expect(staller.stream(1).resetCode).toBe(ERROR.cancel)
    expect(staller.stream(3).resetCode).toBeUndefined()
    staller.send(windowUpdate(3, 10_000), call(5, PATHS.answer, wanted(0)), windowUpdate(5, 100))
    await staller.answer(3)
    await staller.answer(5)
    expect([staller.field(3, 'grpc-status'), staller.field(5, 'grpc-status')]).toEqual(['0', '0'])
    await server.expectServing()
  })
})
