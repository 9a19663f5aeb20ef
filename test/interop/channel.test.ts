import { once } from 'node:events'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { ListenAddress } from '../../src/grpc/address.ts'
import { type Channel, type ChannelOptions, createChannel } from '../../src/grpc/client/channel.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { answerWith, bareServer, framed } from './bare-http2.ts'
import { collect } from './collect.ts'
import { SERVICE } from './conversation.ts'
import { payload } from './requests.ts'
import { socketPlace, startedHere } from './started.ts'
import { timing, windlassServer } from './windlass-server.ts'

/** Our channel against servers that refuse it, disconnect, or do not exist. */
const started = startedHere()
const UNARY = `/${SERVICE}/Unary`

const channelTo = (address: ListenAddress, options: Partial<ChannelOptions> = {}): Promise<Channel> =>
  started(createChannel({ address, timing, minBackoffMs: 1, maxBackoffMs: 20, ...options }))

/** Sends back the request when all of it has arrived. */
function echo(stream: ServerHttp2Stream): void {
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('end', () => answerWith(stream, Buffer.concat(parts).subarray(5)))
}

describe('a channel without a reachable server', () => {
  test('fails a call at once with UNAVAILABLE and the address', async () => {
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    await new Promise((resolve) => listener.close(resolve))
    const channel = await channelTo({ host: '127.0.0.1', port })
    const message = expect.stringMatching(new RegExp(`cannot connect to 127\\.0\\.0\\.1:${port}: .*ECONNREFUSED`))
    await expect(channel.unary(UNARY, payload(1))).rejects.toMatchObject({ code: STATUS.unavailable, message })
  })

  test('fails every operation of a streaming call with UNAVAILABLE and the address', async () => {
    const { path } = await started(socketPlace())
    const channel = await channelTo({ path })
    const failure = { code: STATUS.unavailable, message: expect.stringContaining(path) }
    const call = channel.open(UNARY)
    call.write(payload(1))
    await expect(call.next()).rejects.toMatchObject(failure)
    await expect(call.drained()).rejects.toMatchObject(failure)
    await expect(call.headers).rejects.toMatchObject(failure)
    await expect(call.trailers).rejects.toMatchObject(failure)
    await expect(channel.serverStreaming(UNARY, payload(1)).next()).rejects.toMatchObject(failure)
  })

  test('delays calls with waitForReady until the server starts, and fails others', async () => {
    const { path } = await started(socketPlace())
    const channel = await channelTo({ path })
    const patient = channel.unary(UNARY, payload(5), { waitForReady: true })
    const talking = channel.open(`/${SERVICE}/Bidi`, { waitForReady: true })
    talking.write(payload(6))
    talking.finish()
    for (let i = 0; i < 3; i++) {
      await expect(channel.unary(UNARY, payload(1))).rejects.toMatchObject({ code: STATUS.unavailable })
    }
    await started(windlassServer({ address: { path } }))
    expect(Buffer.from((await patient).message)).toEqual(payload(5))
    expect(await collect(talking)).toEqual([payload(6)])
  })

  test('fails a waiting call at its deadline with DEADLINE_EXCEEDED', async () => {
    const { path } = await started(socketPlace())
    const channel = await channelTo({ path })
    const patient = channel.unary(UNARY, payload(5), { waitForReady: true, timeoutMs: 50 })
    await expect(patient).rejects.toMatchObject({ code: STATUS.deadlineExceeded })
  })

  test('fails a waiting call with CANCELLED when the caller aborts it', async () => {
    const { path } = await started(socketPlace())
    const channel = await channelTo({ path })
    const controller = new AbortController()
    const patient = channel.unary(UNARY, payload(5), { waitForReady: true, signal: controller.signal })
    controller.abort()
    await expect(patient).rejects.toMatchObject({ code: STATUS.cancelled })
  })

  test('fails a call with UNAVAILABLE when the server sends nothing within handshakeMs', async () => {
    const address = await listening(() => {})
    const channel = await channelTo(address, { limits: { handshakeMs: 30 } })
    await expect(channel.unary(UNARY, payload(1))).rejects.toMatchObject({ code: STATUS.unavailable })
  })

  test('fails all calls with UNAVAILABLE when the server disconnects', async () => {
    const channel = await channelTo(await listening((socket) => socket.once('data', () => socket.destroy())))
    const calls = Array.from({ length: 20 }, () => channel.unary(UNARY, payload(1)))
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: STATUS.unavailable })
  })

  test('fails a call with UNAVAILABLE when the server speaks HTTP/1.1', async () => {
    const channel = await channelTo(await listening((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
    await expect(channel.unary(UNARY, payload(1))).rejects.toMatchObject({ code: STATUS.unavailable })
  })
})

/** A listener that accepts connections and is no gRPC server. */
async function listening(onConnection: (socket: Socket) => void): Promise<ListenAddress> {
  const sockets: Socket[] = []
  const listener = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {}) // the client disconnects, as it should
    onConnection(socket)
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const close = (): void => {
    listener.close()
    for (const socket of sockets) socket.destroy()
  }
  await started({ close })
  return { host: '127.0.0.1', port: (listener.address() as AddressInfo).port }
}

describe('cancellation of a call', () => {
  test('before its start never reaches the server', async () => {
    let streams = 0
    const { address } = await started(
      bareServer((stream) => {
        streams++
        echo(stream)
      }),
    )
    const channel = await channelTo(address)
    const signal = AbortSignal.abort()
    await expect(channel.unary(UNARY, payload(1), { signal })).rejects.toMatchObject({ code: STATUS.cancelled })
    const call = channel.open(UNARY, { signal })
    call.write(payload(1))
    await expect(call.next()).rejects.toMatchObject({ code: STATUS.cancelled })
    expect(streams).toBe(0)
    expect(Buffer.from((await channel.unary(UNARY, payload(2))).message)).toEqual(payload(2))
    expect(streams).toBe(1)
  })

  test('while it runs resets the stream with CANCEL', async () => {
    const arrived = Promise.withResolvers<ServerHttp2Stream>()
    const { address } = await started(bareServer((stream) => arrived.resolve(stream)))
    const channel = await channelTo(address)
    const controller = new AbortController()
    const call = channel.unary(UNARY, payload(1), { signal: controller.signal })
    const stream = await arrived.promise
    const closed = once(stream, 'close')
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: STATUS.cancelled })
    await closed
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })

  test('by leaving the loop over the responses resets the stream with CANCEL', async () => {
    const arrived = Promise.withResolvers<ServerHttp2Stream>()
    const { address } = await started(
      bareServer((stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
        stream.write(framed(payload(4)))
        arrived.resolve(stream)
      }),
    )
    const channel = await channelTo(address)
    for await (const answer of channel.serverStreaming(UNARY, payload(1))) {
      expect(Buffer.from(answer)).toEqual(payload(4))
      break
    }
    const stream = await arrived.promise
    if (!stream.closed) await once(stream, 'close')
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })

  test('at its deadline resets the stream with CANCEL', async () => {
    const arrived = Promise.withResolvers<ServerHttp2Stream>()
    const { address } = await started(
      bareServer((stream) => (stream.id === 1 ? echo(stream) : arrived.resolve(stream))),
    )
    const channel = await channelTo(address)
    await channel.unary(UNARY, payload(1)) // so that the deadline is not spent on connecting
    const call = channel.unary(UNARY, payload(1), { timeoutMs: 100 })
    const closed = arrived.promise.then(async (stream) => {
      if (!stream.closed) await once(stream, 'close')
      return stream.rstCode
    })
    await expect(call).rejects.toMatchObject({ code: STATUS.deadlineExceeded })
    expect(await closed).toBe(constants.NGHTTP2_CANCEL)
  })
})
