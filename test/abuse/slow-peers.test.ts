import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/grpc/http2/limits.ts'
import { ERROR, FRAME_TYPE, PREFACE } from '../../src/grpc/http2/wire-format.ts'
import { call, greeting, headers, requestBlock, settings } from '../../src/testing/http2-frames.ts'
import { PATHS } from './abuse-service.ts'
import { abusedServer } from './abused-server.ts'

const { handshakeMs, keepaliveMs, keepaliveTimeoutMs } = DEFAULT_LIMITS

describe('the HTTP/2 handshake', () => {
  const beginnings: Readonly<Record<string, Buffer>> = {
    nothing: Buffer.alloc(0),
    'half a preface': PREFACE.subarray(0, 10),
    'a preface alone': PREFACE,
    'half of its SETTINGS': Buffer.concat([PREFACE, settings().subarray(0, 5)]),
  }

  test.each(Object.entries(beginnings))(
    'times out with SETTINGS_TIMEOUT for a peer that sent %s',
    async (_name, printed) => {
      await using server = await abusedServer()
      const peer = await server.connect({ isMute: true })
      peer.send(printed)
      await server.accepted(1)
      // The server responds to the peer's first bytes: until then the peer may be an HTTP/1.1 client.
      if (printed.length > 0) await peer.until('the server has greeted', () => peer.frames.length >= 2)
      server.timing.advance(handshakeMs - 1)
      expect(server.ends).toEqual([])
      server.timing.advance(1)
      expect(server.ends).toMatchObject([{ code: ERROR.settingsTimeout, flood: 'handshake' }])
      await peer.untilClosed()
      await server.expectServing()
    },
  )

  test('succeeds for a peer that greets 1 ms before the timeout', async () => {
    await using server = await abusedServer()
    const peer = await server.connect({ isMute: true })
    await server.accepted(1)
    server.timing.advance(handshakeMs - 1)
    peer.send(greeting(), call(1, PATHS.echo))
    await peer.answer(1)
    server.timing.advance(1)
    expect(server.ends).toEqual([])
    await server.expectServing()
  })

  test('ends with PROTOCOL_ERROR for a peer that speaks SSH', async () => {
    await using server = await abusedServer()
    const peer = await server.connect({ isMute: true })
    peer.send(Buffer.from('SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'))
    await peer.untilClosed()
    expect(peer.goaway?.code).toBe(ERROR.protocol)
    await server.expectServing()
  })
})

describe('a silent peer', () => {
  test('gets a keepalive ping and is disconnected when it does not acknowledge it', async () => {
    await using server = await abusedServer()
    const peer = await server.connect({ isMute: true })
    peer.send(greeting(), headers(1, requestBlock(PATHS.hold)))
    await peer.until('the server has greeted', () => peer.frames.length >= 3)
    server.timing.advance(keepaliveMs)
    await peer.until('the server asks', () => peer.count(FRAME_TYPE.ping) > 0)
    expect(server.ends).toEqual([])
    server.timing.advance(2 * keepaliveTimeoutMs)
    expect(server.ends).toMatchObject([{ reason: 'the peer did not answer a keepalive' }])
    await peer.untilClosed()
    await server.expectServing()
  })

  test('stays connected as long as it acknowledges keepalive pings', async () => {
    await using server = await abusedServer()
    const peer = await server.connect()
    await peer.roundTrip()
    for (let asked = 1; asked <= 20; asked++) {
      server.timing.advance(keepaliveMs)
      await peer.until('the server asks again', () => peer.frames.filter(isQuestion).length >= asked)
      // The client sends no ping of its own: its acknowledgement must be enough. The call shows that it has arrived.
      peer.send(call(2 * asked + 1, PATHS.echo))
      await peer.answer(2 * asked + 1)
    }
    expect(server.ends).toEqual([])
    await server.expectServing()
  })
})

const isQuestion = ({ type, flags }: { type: number; flags: number }): boolean =>
  type === FRAME_TYPE.ping && flags === 0
