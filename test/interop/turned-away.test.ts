import { constants, type ServerHttp2Stream } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ListenAddress } from '../../src/grpc/address.ts'
import { type Channel, createChannel } from '../../src/grpc/client/channel.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { answerWith, bareServer, framed } from './bare-http2.ts'
import { collect } from './collect.ts'
import { payload } from './requests.ts'
import { startedHere } from './started.ts'
import { timing } from './windlass-server.ts'

/** Our channel against servers that accept few calls, refuse some, or disconnect. */
const started = startedHere()
const PATH = '/a.A/Echo'

const channelTo = (address: ListenAddress): Promise<Channel> => started(createChannel({ address, timing }))

/** Sends back the request when all of it has arrived. */
function echo(stream: ServerHttp2Stream): void {
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('end', () => answerWith(stream, Buffer.concat(parts).subarray(5)))
}

/** Refuses all streams before number `from`, and counts all. */
function refusingUntil(from: number) {
  let streams = 0
  const onStream = (stream: ServerHttp2Stream): void => {
    if (++streams < from) stream.close(constants.NGHTTP2_REFUSED_STREAM)
    else echo(stream)
  }
  return { onStream, count: () => streams }
}

describe('a stream reset by the server', () => {
  test('with REFUSED_STREAM is retried transparently', async () => {
    const { onStream, count } = refusingUntil(2)
    const channel = await channelTo((await started(bareServer(onStream))).address)
    expect(Buffer.from((await channel.unary(PATH, payload(7))).message)).toEqual(payload(7))
    expect(count()).toBe(2)
  })

  test('with REFUSED_STREAM is retried transparently for a server-streaming call', async () => {
    const { onStream, count } = refusingUntil(3)
    const channel = await channelTo((await started(bareServer(onStream))).address)
    expect(await collect(channel.serverStreaming(PATH, payload(7)))).toEqual([payload(7)])
    expect(count()).toBe(3)
  })

  test('with REFUSED_STREAM is retried twice at most', async () => {
    const { onStream, count } = refusingUntil(Number.POSITIVE_INFINITY)
    const channel = await channelTo((await started(bareServer(onStream))).address)
    await expect(channel.unary(PATH, payload(7))).rejects.toMatchObject({ code: STATUS.unavailable })
    expect(count()).toBe(3)
  })

  test('with REFUSED_STREAM after a first response is not retried', async () => {
    let streams = 0
    const { address } = await started(
      bareServer((stream) => {
        streams++
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
        stream.write(framed(payload(1)))
        setImmediate(() => stream.close(constants.NGHTTP2_REFUSED_STREAM))
      }),
    )
    const call = (await channelTo(address)).serverStreaming(PATH, payload(7))
    await expect(collect(call)).rejects.toThrow()
    expect(streams).toBe(1)
  })

  test.each([
    ['PROTOCOL_ERROR', constants.NGHTTP2_PROTOCOL_ERROR, STATUS.internal],
    ['INTERNAL_ERROR', constants.NGHTTP2_INTERNAL_ERROR, STATUS.internal],
    ['CANCEL', constants.NGHTTP2_CANCEL, STATUS.cancelled],
    ['ENHANCE_YOUR_CALM', constants.NGHTTP2_ENHANCE_YOUR_CALM, STATUS.resourceExhausted],
    ['INADEQUATE_SECURITY', constants.NGHTTP2_INADEQUATE_SECURITY, STATUS.permissionDenied],
  ])('with %s fails the call and is not retried', async (_name, reset, code) => {
    let streams = 0
    const { address } = await started(
      bareServer((stream) => {
        streams++
        stream.close(reset)
      }),
    )
    await expect((await channelTo(address)).unary(PATH, payload(7))).rejects.toMatchObject({ code })
    expect(streams).toBe(1)
  })
})

describe('a server with a small max_concurrent_streams', () => {
  /** Holds every call for a few turns of the event loop, and records the most that it held at once. */
  function crowded() {
    const seen = { now: 0, most: 0, all: 0 }
    const onStream = (stream: ServerHttp2Stream): void => {
      seen.all++
      seen.most = Math.max(seen.most, ++seen.now)
      stream.on('close', () => seen.now--)
      setTimeout(() => echo(stream), 2)
    }
    return { onStream, seen }
  }

  test('gets 60 unary calls three at a time, and responds to all', async () => {
    const { onStream, seen } = crowded()
    const { address } = await started(bareServer(onStream, { maxConcurrentStreams: 3 }))
    const channel = await channelTo(address)
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => channel.unary(PATH, payload(i))))
    expect(answers.map(({ message }) => message.length)).toEqual(Array.from({ length: 60 }, (_, i) => i))
    expect(seen).toMatchObject({ most: 3, all: 60 })
  })

  test('gets 20 streaming calls three at a time, also those started before it sent its limit', async () => {
    const { onStream, seen } = crowded()
    const { address } = await started(bareServer(onStream, { maxConcurrentStreams: 3 }))
    const channel = await channelTo(address)
    const calls = Array.from({ length: 20 }, async (_, i) => {
      const call = channel.open(PATH)
      call.write(payload(i))
      call.finish()
      return await collect(call)
    })
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 20 }, (_, i) => [payload(i)]))
    expect(seen.most).toBe(3)
  })

  test('does not get calls that were cancelled while they waited', async () => {
    const held: ServerHttp2Stream[] = []
    const { address } = await started(bareServer((stream) => void held.push(stream), { maxConcurrentStreams: 1 }))
    const channel = await channelTo(address)
    // The client learns the limit with the first call; the server accepts no more before it has ended.
    const first = channel.open(PATH)
    first.write(payload(1))
    await settingsOf(held)
    const controller = new AbortController()
    const second = channel.unary(PATH, payload(2), { signal: controller.signal })
    controller.abort()
    await expect(second).rejects.toMatchObject({ code: STATUS.cancelled })
    const third = channel.unary(PATH, payload(3))
    echo(held[0] as ServerHttp2Stream)
    first.finish()
    expect(Buffer.from((await first.next()) as Uint8Array)).toEqual(payload(1))
    while (held.length < 2) await sleep(5)
    echo(held[1] as ServerHttp2Stream)
    expect(Buffer.from((await third).message)).toEqual(payload(3))
    expect(held.length).toBe(2)
  })

  async function settingsOf(held: readonly ServerHttp2Stream[]): Promise<void> {
    while (held.length === 0) await sleep(5)
    const { session } = held[0] as ServerHttp2Stream
    while (session?.pendingSettingsAck !== false) await sleep(5)
  }
})

describe('a server that sends GOAWAY or disconnects', () => {
  test('still completes accepted calls, and new calls use a new connection', async () => {
    const held: ServerHttp2Stream[] = []
    const { address, sessions } = await started(
      bareServer((stream) => (sessions.length === 1 ? void held.push(stream) : echo(stream))),
    )
    const channel = await channelTo(address)
    const first = channel.unary(PATH, payload(1))
    while (held.length === 0) await sleep(5)
    const [stream] = held as [ServerHttp2Stream]
    stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id as number)
    // The new connection proves that the client has received the GOAWAY.
    const later: Promise<unknown>[] = []
    while (sessions.length === 1) {
      later.push(channel.unary(PATH, payload(2)))
      await sleep(5)
    }
    expect(Buffer.from((await channel.unary(PATH, payload(3))).message)).toEqual(payload(3))
    for (const each of held) echo(each)
    expect(Buffer.from((await first).message)).toEqual(payload(1))
    await Promise.all(later)
  })

  test('gets unprocessed calls again on a new connection', async () => {
    const { address, sessions } = await started(
      bareServer((stream) => {
        if (sessions.length > 1 || stream.id === 1) return echo(stream)
        // The GOAWAY states that the first stream was processed and none of the others.
        stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 1)
      }),
    )
    const channel = await channelTo(address)
    await channel.unary(PATH, payload(1))
    const calls = Array.from({ length: 5 }, (_, i) => channel.unary(PATH, payload(i)))
    expect((await Promise.all(calls)).map(({ message }) => message.length)).toEqual([0, 1, 2, 3, 4])
    expect(sessions.length).toBe(2)
  })

  test('fails calls in progress with UNAVAILABLE', async () => {
    const { address, sessions } = await started(
      bareServer((stream) => {
        if (sessions.length > 1) echo(stream)
        else stream.session?.destroy()
      }),
    )
    const channel = await channelTo(address)
    await expect(channel.unary(PATH, payload(1))).rejects.toMatchObject({ code: STATUS.unavailable })
    expect(Buffer.from((await channel.unary(PATH, payload(2))).message)).toEqual(payload(2))
  })
})

describe('a response that is not valid gRPC', () => {
  test.each([
    [400, STATUS.internal],
    [401, STATUS.unauthenticated],
    [403, STATUS.permissionDenied],
    [404, STATUS.unimplemented],
    [429, STATUS.unavailable],
    [503, STATUS.unavailable],
    [500, STATUS.unknown],
  ])('with HTTP status %i becomes gRPC status %i', async (http, code) => {
    const { address } = await started(
      bareServer((stream) => {
        stream.respond({ ':status': http, 'content-type': 'text/html' })
        stream.end('<p>no</p>')
      }),
    )
    const message = expect.stringContaining(String(http))
    await expect((await channelTo(address)).unary(PATH, payload(1))).rejects.toMatchObject({ code, message })
  })

  test.each([
    ['without a message', Buffer.alloc(0)],
    ['with two messages', Buffer.concat([framed(payload(1)), framed(payload(1))])],
    ['with a second message larger than any window', Buffer.concat([framed(payload(1)), framed(payload(8 << 20))])],
    ['with half a message', framed(payload(9)).subarray(0, 8)],
  ])('to a unary call %s becomes INTERNAL', async (_what, body) => {
    const { address } = await started(
      bareServer((stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
        stream.end(body)
      }),
    )
    await expect((await channelTo(address)).unary(PATH, payload(1))).rejects.toMatchObject({ code: STATUS.internal })
  })

  test('without a grpc-status fails the call', async () => {
    const { address } = await started(
      bareServer((stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
        stream.end(framed(payload(1)))
      }),
    )
    await expect((await channelTo(address)).unary(PATH, payload(1))).rejects.toMatchObject({
      code: expect.toBeOneOf([STATUS.unknown, STATUS.internal]),
    })
  })
})
