import { describe, expect, test } from 'vitest'
import type { Http2Limits } from '../../src/grpc/http2/limits.ts'
import { ERROR, FLAG, SETTING } from '../../src/grpc/http2/wire-format.ts'
import { heldBytes } from '../../src/testing/held-memory.ts'
import {
  data,
  headers,
  lastData,
  message,
  ping,
  priority,
  requestBlock,
  settings,
} from '../../src/testing/http2-frames.ts'
import type { RawHttp2 } from '../../src/testing/raw-http2.ts'
import { PATHS } from './abuse-service.ts'
import { type AbusedServer, abusedServer } from './abused-server.ts'

const END = FLAG.endHeaders | FLAG.endStream

describe('frames that cost their sender next to nothing', () => {
  const floods: Readonly<Record<string, { frame: Buffer; flood: string }>> = {
    SETTINGS: { frame: settings([SETTING.initialWindowSize, 1000]), flood: 'settings' },
    'empty SETTINGS': { frame: settings(), flood: 'settings' },
    PING: { frame: ping(), flood: 'pings' },
    'empty DATA': { frame: data(1, Buffer.alloc(0)), flood: 'empty frames' },
    PRIORITY: { frame: priority(1, 0), flood: 'priorities' },
  }

  test.each(Object.entries(floods))('are cut off: %s', async (_name, { frame, flood }) => {
    await using server = await abusedServer()
    const attacker = await server.connect()
    attacker.send(headers(1, requestBlock(PATHS.hold)))
    await attacker.sendAll(new Array<Buffer>(50_000).fill(frame))
    expect(await server.ended()).toMatchObject({ code: ERROR.enhanceYourCalm, flood })
    await attacker.until('the server says why', () => attacker.goaway !== undefined)
    expect(attacker.goaway?.code).toBe(ERROR.enhanceYourCalm)
    await server.expectServing()
  })
})

describe('a peer that makes the server talk and does not listen', () => {
  /** Sends until it is cut off, and for as long as it would take an unbounded server to hold 50 MB. */
  const expectCutOff = async (limits: Partial<Http2Limits>, frames: (count: number) => Iterable<Buffer>) => {
    await using server = await abusedServer(limits)
    const attacker = await server.connect()
    await attacker.until('the greeting is over', () => attacker.frames.length >= 3)
    attacker.pause()
    const before = await heldBytes()
    await expectCut(server, attacker, frames(1_000_000))
    expect((await heldBytes()) - before).toBeLessThan(16 << 20)
    server.timing.advance(1000)
    await server.expectServing()
  }

  const expectCut = async (server: AbusedServer, attacker: RawHttp2, frames: Iterable<Buffer>) => {
    await attacker.sendAll(untilCut(server, frames))
    // Which cap it passes first is a matter of detail.
    expect(server.ends).toMatchObject([{ code: ERROR.enhanceYourCalm, flood: expect.any(String) }])
  }

  function* untilCut(server: AbusedServer, frames: Iterable<Buffer>): Generator<Buffer> {
    for (const frame of frames) {
      if (server.ends.length > 0) return
      yield frame
    }
  }

  const endless = { burst: 1e9, perSecond: 1e9 }

  test('is cut off when it pings', async () => {
    await expectCutOff({ pings: endless }, (count) => new Array<Buffer>(3 * count).fill(ping()))
  })

  test('is cut off when its streams are refused', async () => {
    await expectCutOff({ resets: endless, maxConcurrentStreams: 1 }, function* (count) {
      for (let i = 0; i < 4 * count; i++) yield headers(2 * i + 1, Buffer.from([0x82]), END)
    })
  })

  test('is cut off when it calls what is not there', async () => {
    const path = `/${'long'.repeat(500)}/Method`
    const block = requestBlock(path)
    await expectCutOff({}, function* (count) {
      for (let i = 0; i < count / 20; i++) yield headers(2 * i + 1, block, END)
    })
  })

  test('is cut off when its requests are not gRPC', async () => {
    const indexed = Buffer.from([0x82, 0x86, 0x84])
    await expectCutOff({}, function* (count) {
      for (let i = 0; i < 3 * count; i++) yield headers(2 * i + 1, indexed, END)
    })
  })

  test.each([PATHS.refuse, PATHS.refuseStream])('is cut off when its calls to %s fail a little later', async (path) => {
    const block = requestBlock(path)
    await expectCutOff({}, function* (count) {
      for (let i = 0; i < count / 20; i++) {
        yield Buffer.concat([headers(2 * i + 1, block), lastData(2 * i + 1, message(Buffer.alloc(0)))])
      }
    })
  })
})
