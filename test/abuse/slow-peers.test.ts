import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/grpc/http2/limits.ts'
import { ERROR, FRAME_TYPE, PREFACE } from '../../src/grpc/http2/wire-format.ts'
import { call, greeting, headers, requestBlock, settings } from '../../src/testing/http2-frames.ts'
import { PATHS } from './abuse-service.ts'
import { abusedServer } from './abused-server.ts'

const { handshakeMs, keepaliveMs, keepaliveTimeoutMs } = DEFAULT_LIMITS

describe('a peer that does not say hello', () => {
  const beginnings: Readonly<Record<string, Buffer>> = {
    nothing: Buffer.alloc(0),
    'half a preface': PREFACE.subarray(0, 10),
    'a preface alone': PREFACE,
    'half of its SETTINGS': Buffer.concat([PREFACE, settings().subarray(0, 5)]),
  }

  test.each(Object.entries(beginnings))('in time is cut off, having said %s', async (_name, said) => {
    await using server = await abusedServer()
    const peer = await server.connect({ isMute: true })
    peer.send(said)
    await peer.until('the server has greeted', () => peer.frames.length >= 2)
    server.timing.advance(handshakeMs - 1)
    expect(server.ends).toEqual([])
    server.timing.advance(1)
    expect(server.ends).toMatchObject([{ code: ERROR.settingsTimeout, flood: 'handshake' }])
    await peer.untilClosed()
    await server.expectServing()
  })

  test('but says it late is served', async () => {
    await using server = await abusedServer()
    const peer = await server.connect({ isMute: true })
    await peer.until('the server has greeted', () => peer.frames.length >= 2)
    server.timing.advance(handshakeMs - 1)
    peer.send(greeting(), call(1, PATHS.echo))
    await peer.answer(1)
    server.timing.advance(1)
    expect(server.ends).toEqual([])
    await server.expectServing()
  })

  test('but something else is told that this is HTTP/2', async () => {
    await using server = await abusedServer()
    const peer = await server.connect({ isMute: true })
    peer.send(Buffer.from('SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'))
    await peer.untilClosed()
    expect(peer.goaway?.code).toBe(ERROR.protocol)
    await server.expectServing()
  })
})

describe('a peer that has fallen silent', () => {
  test('is asked whether it is there, and cut off when it does not answer', async () => {
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

  test('is kept as long as it answers', async () => {
    await using server = await abusedServer()
    const peer = await server.connect()
    await peer.roundTrip()
    for (let asked = 1; asked <= 20; asked++) {
      server.timing.advance(keepaliveMs)
      await peer.until('the server asks again', () => peer.frames.filter(isQuestion).length >= asked)
      // Not a ping of our own: the answer alone must do. The call shows that it has arrived.
      peer.send(call(2 * asked + 1, PATHS.echo))
      await peer.answer(2 * asked + 1)
    }
    expect(server.ends).toEqual([])
    await server.expectServing()
  })
})

const isQuestion = ({ type, flags }: { type: number; flags: number }): boolean =>
  type === FRAME_TYPE.ping && flags === 0
