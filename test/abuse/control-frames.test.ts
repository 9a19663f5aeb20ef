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

describe('a flood of cheap frames', () => {
  const floods: Readonly<Record<string, { frame: Buffer; flood: string }>> = {
    SETTINGS: { frame: settings([SETTING.initialWindowSize, 1000]), flood: 'settings' },
    'empty SETTINGS': { frame: settings(), flood: 'settings' },
    PING: { frame: ping(), flood: 'pings' },
    'empty DATA': { frame: data(1, Buffer.alloc(0)), flood: 'empty frames' },
    PRIORITY: { frame: priority(1, 0), flood: 'priorities' },
  }

  test.each(Object.entries(floods))(
    '%s frames close the connection with ENHANCE_YOUR_CALM',
    async (_name, { frame, flood }) => {
      await using server = await abusedServer()
      const attacker = await server.connect()
      attacker.send(headers(1, requestBlock(PATHS.hold)))
      await attacker.sendAll(new Array<Buffer>(50_000).fill(frame))
      expect(await server.ended()).toMatchObject({ code: ERROR.enhanceYourCalm, flood })
      await attacker.until('the server says why', () => attacker.goaway !== undefined)
      expect(attacker.goaway?.code).toBe(ERROR.enhanceYourCalm)
      await server.expectServing()
    },
  )
})

describe('a peer that provokes responses and does not read them', () => {
  /**
   * Sends until the server closes the connection, at most the frames that would make an unbounded server hold 50 MB.
   */
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
    // The test does not fix which of the caps is exceeded first.
    expect(server.ends).toMatchObject([{ code: ERROR.enhanceYourCalm, flood: expect.any(String) }])
  }

  function* untilCut(server: AbusedServer, frames: Iterable<Buffer>): Generator<Buffer> {
    for (const frame of frames) {
      if (server.ends.length > 0) return
      yield frame
    }
  }

  const endless = { burst: 1e9, perSecond: 1e9 }

  test('is disconnected when it floods PING frames', async () => {
    await expectCutOff({ pings: endless }, (count) => new Array<Buffer>(3 * count).fill(ping()))
  })

  test('is disconnected when it floods streams above max_concurrent_streams', async () => {
    await expectCutOff({ resets: endless, maxConcurrentStreams: 1 }, function* (count) {
      for (let i = 0; i < 4 * count; i++) yield headers(2 * i + 1, Buffer.from([0x82]), END)
    })
  })

  test('is disconnected when it floods calls to an unknown method', async () => {
    const path = `/${'long'.repeat(500)}/Method`
    const block = requestBlock(path)
    await expectCutOff({}, function* (count) {
      for (let i = 0; i < count / 20; i++) yield headers(2 * i + 1, block, END)
    })
  })

  test('is disconnected when it floods requests that are not gRPC', async () => {
    const indexed = Buffer.from([0x82, 0x86, 0x84])
    await expectCutOff({}, function* (count) {
      for (let i = 0; i < 3 * count; i++) yield headers(2 * i + 1, indexed, END)
    })
  })

  test.each([PATHS.refuse, PATHS.refuseStream])(
    'is disconnected when it floods calls to %s, which fail asynchronously',
    async (path) => {
      const block = requestBlock(path)
      await expectCutOff({}, function* (count) {
        for (let i = 0; i < count / 20; i++) {
          yield Buffer.concat([headers(2 * i + 1, block), lastData(2 * i + 1, message(Buffer.alloc(0)))])
        }
      })
    },
  )
})
