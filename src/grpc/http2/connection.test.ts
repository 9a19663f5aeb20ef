import { beforeEach, describe, expect, test } from 'vitest'
import { FakeDuplex } from '../../testing/fake-duplex.ts'
import {
  data,
  describeFrame,
  goaway,
  greeting,
  headers,
  lastData,
  paddedData,
  ping,
  priority,
  requestBlock,
  settings,
  settingsAck,
  windowUpdate,
} from '../../testing/http2-frames.ts'
import { type ManualTiming, manualTiming } from '../../testing/manual-timing.ts'
import { literals } from '../server/response-blocks.ts'
import { Http2Connection } from './connection.ts'
import type { ConnectionEnd, ConnectionHost } from './connection-host.ts'
import { DEFAULT_LIMITS, type Http2Limits } from './limits.ts'
import type { Http2Stream, StreamReceiver } from './stream.ts'
import { ERROR, FLAG, FRAME_TYPE, MAX_WINDOW, SETTING } from './wire-format.ts'

const KiB = 1024
const FRAME_BYTES = 16 * KiB
const HEAD = literals([[':status', '200']])
const TRAILERS = literals([['grpc-status', '0']])

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Accepts requests and records the callbacks. */
class Keeper implements ConnectionHost {
  readonly budget = { used: 0, most: 1 << 30 }
  readonly hasParked = false
  readonly streams = new Map<number, Http2Stream>()
  readonly heard: string[] = []
  readonly ends: ConnectionEnd[] = []

  onStream(stream: Http2Stream): void {
    this.streams.set(stream.id, stream)
    const note = (what: string) => this.heard.push(`${stream.id} ${what}`)
    const receiver: StreamReceiver = {
      onHeaders: (_list, endStream) => note(`headers${endStream ? ' end' : ''}`),
      onData: (bytes, endStream) => note(`data ${bytes.length}${endStream ? ' end' : ''}`),
      onReset: (code) => note(`reset ${code}`),
      onDrained: () => note('drained'),
    }
    stream.receiver = receiver
  }

  onPeerSettings(): void {}
  onGoaway(): void {}
  onStreamGone(): void {}
  onRoom(): void {}
  onClosed(end: ConnectionEnd): void {
    this.ends.push(end)
  }
}

let socket: FakeDuplex
let host: Keeper
let timing: ManualTiming
let connection: Http2Connection

async function open(limits: Partial<Http2Limits> = {}, ...entries: [number, number][]): Promise<void> {
  socket = new FakeDuplex()
  host = new Keeper()
  timing = manualTiming()
  const options = { role: 'server', limits: { ...DEFAULT_LIMITS, ...limits }, timing, host } as const
  connection = new Http2Connection({ socket: socket.asDuplex(), ...options })
  socket.receive(greeting(...entries), settingsAck)
  await turn()
  socket.taken()
}

const request = (stream: number, endStream = true): Buffer =>
  headers(stream, requestBlock('/a.B/C'), FLAG.endHeaders | (endStream ? FLAG.endStream : 0))

const streamOf = (id: number): Http2Stream => host.streams.get(id) as Http2Stream

/** Sends headers, this many bytes of data, and trailers. */
function answer(id: number, bytes: number): void {
  connection.writeHeaderBlock(id, HEAD, false)
  const stream = streamOf(id)
  stream.sendData(Buffer.alloc(bytes, id))
  stream.finish(() => TRAILERS)
}

const sent = (): string[] => socket.frames().map(describeFrame)

beforeEach(() => open())

describe('Http2Connection, sending', () => {
  test('streams take turns, one DATA frame each', async () => {
    socket.receive(request(1), request(3), request(5))
    for (const id of [1, 3, 5]) answer(id, id === 3 ? 20_000 : 40_000)
    connection.turns.window = 1 << 20
    await turn()
    expect(sent().filter((frame) => frame.startsWith('data'))).toEqual([
      'data 1 (16384)',
      'data 3 (16384)',
      'data 5 (16384)',
      'data 1 (16384)',
      'data 3 (3616)',
      'data 5 (16384)',
      'data 1 (7232)',
      'data 5 (7232)',
    ])
  })

  test('trailers follow the last DATA of their stream and do not wait for other streams', async () => {
    socket.receive(request(1), request(3))
    answer(1, 40_000)
    answer(3, 10)
    await turn()
    const frames = sent()
    expect(frames.slice(0, 5)).toEqual(['headers 1', 'headers 3', 'data 1 (16384)', 'data 3 (10)', 'headers 3 end'])
    expect(frames.at(-1)).toBe('headers 1 end')
  })

  test('control frames are written before queued DATA', async () => {
    socket.receive(request(1))
    socket.stall()
    answer(1, 4 << 20)
    streamOf(1).sendWindow = connection.turns.window = 8 << 20
    await turn()
    socket.taken()
    socket.receive(ping(), settings())
    expect(sent()).toEqual(['ping ack', 'settings ack'])
    socket.take()
    expect(sent()[0]).toBe('data 1 (16384)')
  })

  test('a small response finishes before a large one that is being sent', async () => {
    socket.receive(request(1))
    socket.stall()
    answer(1, 4 << 20)
    streamOf(1).sendWindow = connection.turns.window = 8 << 20
    await turn()
    socket.receive(request(3))
    answer(3, 100)
    await turn()
    socket.taken()
    socket.take()
    const frames = sent()
    expect(frames.indexOf('headers 3 end')).toBeLessThanOrEqual(3)
    expect(frames.indexOf('headers 3 end')).toBeGreaterThan(0)
  })

  test.each([16 * KiB, 1 << 20, 16_777_215])(
    'the socket buffers at most socketBacklogBytes and 64 KiB when the peer accepts frames of %d bytes',
    async (maxFrameSize) => {
      await open({}, [SETTING.maxFrameSize, maxFrameSize], [SETTING.initialWindowSize, MAX_WINDOW])
      socket.receive(windowUpdate(0, 1 << 30), request(1))
      socket.stall()
      answer(1, 8 << 20)
      let most = 0
      for (let left = 8 << 20; left > 0; ) {
        await turn()
        most = Math.max(most, socket.writableLength)
        left = connection.turns.pendingBytes
        socket.take()
      }
      expect(most).toBeLessThanOrEqual(DEFAULT_LIMITS.socketBacklogBytes + 4 * FRAME_BYTES)
    },
  )

  test('DATA never exceeds the window of a stream', async () => {
    await open({}, [SETTING.initialWindowSize, 1000])
    socket.receive(request(1))
    answer(1, 2500)
    await turn()
    expect(sent()).toEqual(['headers 1', 'data 1 (1000)'])
    socket.receive(windowUpdate(1, 1))
    expect(sent()).toEqual(['data 1 (1)'])
    socket.receive(settings([SETTING.initialWindowSize, 1100]))
    expect(sent()).toEqual(['settings ack', 'data 1 (100)'])
    socket.receive(settings([SETTING.initialWindowSize, 0]), windowUpdate(1, 1100))
    expect(sent()).toEqual(['settings ack'])
    socket.receive(windowUpdate(1, 5000))
    expect(sent()).toEqual(['data 1 (1399)', 'headers 1 end'])
  })

  test('DATA of all streams together never exceeds the window of the connection', async () => {
    await open({}, [SETTING.initialWindowSize, 1 << 20])
    socket.receive(request(1), request(3))
    answer(1, 60_000)
    answer(3, 60_000)
    await turn()
    const bytes = () =>
      socket.frames().reduce((sum, { type, payload }) => sum + (type === FRAME_TYPE.data ? payload.length : 0), 0)
    expect(bytes()).toBe(65_535)
    socket.receive(windowUpdate(0, 10))
    expect(bytes()).toBe(10)
    socket.receive(windowUpdate(0, 1 << 20))
    expect(bytes()).toBe(120_000 - 65_545)
  })

  test('a response without DATA is finished with a window of 0', async () => {
    await open({}, [SETTING.initialWindowSize, 0])
    socket.receive(request(1), request(3))
    answer(1, 0)
    answer(3, 5)
    await turn()
    expect(sent()).toEqual(['headers 1', 'headers 3', 'headers 1 end'])
  })

  test('finishing a stream with a negative window does not change the connection window', async () => {
    socket.receive(request(1))
    connection.writeHeaderBlock(1, HEAD, false)
    streamOf(1).sendData(Buffer.alloc(5000))
    await turn()
    socket.receive(settings([SETTING.initialWindowSize, 0]))
    const { window } = connection.turns
    streamOf(1).finish(() => TRAILERS)
    await turn()
    expect(connection.turns.window).toBe(window)
    expect(connection.turns.pendingBytes).toBe(0)
  })

  test('a stream is behind at streamPendingBytes and reports drained when half of them are sent', async () => {
    await open({}, [SETTING.initialWindowSize, 0])
    socket.receive(windowUpdate(0, 1 << 24), request(1, false))
    const stream = streamOf(1)
    stream.sendData(Buffer.alloc(DEFAULT_LIMITS.streamPendingBytes - 1))
    expect(stream.isBehind).toBe(false)
    stream.sendData(Buffer.alloc(1))
    expect(stream.isBehind).toBe(true)
    await turn()
    socket.receive(windowUpdate(1, DEFAULT_LIMITS.streamPendingBytes / 2 - 1))
    expect(host.heard).toEqual([])
    socket.receive(windowUpdate(1, 1))
    expect(host.heard).toEqual(['1 drained'])
  })

  test('a reset stream drops its pending bytes, and a closed connection drops all', async () => {
    await open({}, [SETTING.initialWindowSize, 0])
    socket.receive(request(1), request(3))
    answer(1, 1000)
    answer(3, 500)
    expect(connection.turns.pendingBytes).toBe(1500)
    streamOf(1).reset(ERROR.cancel)
    expect(connection.turns.pendingBytes).toBe(500)
    socket.destroy()
    expect(connection.turns.pendingBytes).toBe(0)
    expect(connection.streams.size).toBe(0)
  })
})

describe('Http2Connection, receiving', () => {
  const piece = Buffer.alloc(FRAME_BYTES)
  const updates = (stream: number): number =>
    socket
      .frames()
      .filter((frame) => frame.type === FRAME_TYPE.windowUpdate && frame.stream === stream)
      .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0)

  test('the connection window is replenished on receipt, once half of it is used', () => {
    socket.receive(request(1, false), request(3, false))
    const half = DEFAULT_LIMITS.connectionWindowBytes / 2
    let bytes = 0
    for (let id = 5; bytes + FRAME_BYTES < half; id += 2) {
      socket.receive(request(id, false))
      for (let i = 0; i < 16 && bytes + FRAME_BYTES < half; i++, bytes += FRAME_BYTES) socket.receive(data(id, piece))
    }
    expect(updates(0)).toBe(0)
    socket.receive(data(1, piece))
    expect(updates(0)).toBe(half)
  })

  test('the stream window is replenished once half of it is consumed', () => {
    const { initialWindowBytes, streamWindowBytes } = DEFAULT_LIMITS
    socket.receive(request(1, false))
    for (let i = 0; i < initialWindowBytes / FRAME_BYTES; i++) socket.receive(data(1, piece))
    expect(updates(1)).toBe(0)
    expect(connection.bufferedBytes).toBe(initialWindowBytes)
    expect(host.budget.used).toBe(initialWindowBytes)
    streamOf(1).consume(initialWindowBytes / 2 - 1)
    expect(updates(1)).toBe(0)
    streamOf(1).consume(1)
    // The first consumption also raises the window to streamWindowBytes.
    socket.emit('drain')
    expect(updates(1)).toBe(initialWindowBytes / 2 + streamWindowBytes - initialWindowBytes)
    expect(connection.bufferedBytes).toBe(initialWindowBytes / 2)
  })

  test('padding is returned to the stream window', async () => {
    socket.receive(request(1, false))
    const frames = DEFAULT_LIMITS.initialWindowBytes / 256
    for (let i = 0; i < frames; i++) socket.receive(paddedData(1, Buffer.alloc(1), { padding: 254 }))
    expect(host.heard.filter((line) => line.startsWith('1 data'))).toHaveLength(frames)
    streamOf(1).consume(frames)
    await turn()
    expect(updates(1)).toBeGreaterThanOrEqual(DEFAULT_LIMITS.initialWindowBytes / 2)
  })

  test('a stream that is never read blocks itself and no other stream of its connection', async () => {
    socket.receive(request(1, false))
    for (let i = 0; i < DEFAULT_LIMITS.initialWindowBytes / FRAME_BYTES; i++) socket.receive(data(1, piece))
    for (let id = 3; id < 1000; id += 2) {
      socket.receive(request(id, false))
      for (let i = 0; i < 8; i++) {
        socket.receive(data(id, piece))
        streamOf(id).consume(FRAME_BYTES)
      }
      socket.receive(lastData(id, Buffer.alloc(0)))
      answer(id, 10)
      await turn()
    }
    expect(host.ends).toEqual([])
    expect(host.heard.filter((line) => line.endsWith(' end'))).toHaveLength(499)
    expect(connection.bufferedBytes).toBe(DEFAULT_LIMITS.initialWindowBytes)
  })

  test('the connection window closes at maxConnectionBufferedBytes and reopens after bytes are consumed', async () => {
    const window = 128 * KiB
    await open({ connectionWindowBytes: window, maxConnectionBufferedBytes: window })
    socket.receive(request(1, false), request(3, false))
    for (let i = 0; i < 8; i++) socket.receive(data(1, piece))
    expect(updates(0)).toBe(window)
    for (let i = 0; i < 8; i++) socket.receive(data(3, piece))
    expect(updates(0)).toBe(0)
    streamOf(1).consume(window)
    await turn()
    expect(updates(0)).toBe(window)
    expect(host.ends).toEqual([])
  })

  test('a peer that sends beyond a closed connection window is disconnected with FLOW_CONTROL_ERROR', async () => {
    const window = 128 * KiB
    await open({ connectionWindowBytes: window, maxConnectionBufferedBytes: window })
    socket.receive(request(1, false), request(3, false))
    for (let i = 0; i < 8; i++) socket.receive(data(1, piece), data(3, piece))
    expect(host.ends).toEqual([])
    socket.receive(data(3, Buffer.alloc(1)))
    expect(host.ends).toMatchObject([{ code: ERROR.flowControl }])
    expect(host.budget.used).toBe(0)
  })
})

describe('Http2Connection, closing', () => {
  test('a response that ends before its request sends RST_STREAM with NO_ERROR; later DATA is ignored', async () => {
    socket.receive(request(1, false))
    answer(1, 5)
    await turn()
    expect(sent()).toEqual(['headers 1', 'data 1 (5)', 'headers 1 end', 'rstStream 1 code 0'])
    socket.receive(data(1, Buffer.alloc(100)), lastData(1, Buffer.alloc(100)))
    expect(sent()).toEqual([])
    expect(host.ends).toEqual([])
  })

  test('a drained connection closes when its last stream has ended', async () => {
    socket.receive(request(1))
    connection.drain()
    await turn()
    timing.advance(100)
    await turn()
    expect(sent()).toEqual(['goaway code 0', 'goaway code 0'])
    expect(host.ends).toEqual([])
    answer(1, 5)
    await turn()
    await turn()
    expect(host.ends).toMatchObject([{ code: ERROR.none, reason: 'drained' }])
    expect(socket.isEnded).toBe(true)
  })

  test('a connection that received GOAWAY still closes when it is drained', async () => {
    socket.receive(goaway(0))
    connection.drain()
    timing.advance(100)
    await turn()
    expect(host.ends).toMatchObject([{ code: ERROR.none, reason: 'drained' }])
  })

  test('a lost connection resets every stream once', () => {
    socket.receive(request(1), request(3, false))
    socket.destroy()
    socket.destroy()
    expect(host.heard).toEqual(['1 reset -1', '3 reset -1'])
    expect(host.ends).toHaveLength(1)
  })

  test('a protocol error sends GOAWAY with PROTOCOL_ERROR, and later frames get no reply', () => {
    socket.receive(request(2))
    expect(sent()).toEqual(['goaway code 1'])
    socket.receive(ping())
    expect(sent()).toEqual([])
  })
})

test('an idle stream is never reset, because its error is a connection error', () => {
  socket.receive(priority(5, 5))
  expect(sent()).not.toContain('rstStream 5 code 1')
})
