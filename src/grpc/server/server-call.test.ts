import { describe, expect, test } from 'vitest'
import { FakeDuplex } from '../../testing/fake-duplex.ts'
import {
  call,
  describeFrame,
  type Frame,
  greeting,
  ping,
  settings,
  settingsAck,
  windowUpdate,
} from '../../testing/http2-frames.ts'
import { manualTiming } from '../../testing/manual-timing.ts'
import { serverCore, silentObserver } from '../../testing/server-core.ts'
import { HpackDecoder } from '../hpack/decoder.ts'
import { FRAME_TYPE, MAX_WINDOW, SETTING } from '../http2/wire-format.ts'
import type { Method } from '../service.ts'
import { GrpcError, STATUS } from '../status.ts'
import { ServerConnection } from './server-connection.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** One method on one connection over a fake socket. */
function serving(method: Method) {
  const bugs: unknown[] = []
  const ends: unknown[] = []
  const observer = {
    ...silentObserver,
    handlerFailed: (_path: string, error: unknown) => bugs.push(error),
    connectionClosed: (end: unknown) => ends.push(end),
  }
  const core = serverCore([{ name: 't.T', methods: { M: method } }], manualTiming(), { observer })
  const socket = new FakeDuplex()
  new ServerConnection(core, socket.asDuplex(), { address: 'test', certificateName: undefined }, () => {})
  socket.receive(greeting(), settingsAck)
  const decoder = new HpackDecoder({ maxTableBytes: 4096, maxListBytes: 1 << 20 })
  const read = (frame: Frame): string => {
    if (frame.type !== FRAME_TYPE.headers) return describeFrame(frame)
    const { fields } = decoder.decode(frame.payload, 0, frame.payload.length)
    return `${describeFrame(frame)}: ${fields.map(({ name, value }) => `${name}=${value}`).join(' ')}`
  }
  const ask = async (stream: number): Promise<string[]> => {
    socket.receive(call(stream, '/t.T/M'))
    await turn()
    await turn()
    return socket
      .frames()
      .filter((frame) => frame.stream === stream)
      .map(read)
  }
  return { ask, bugs, ends, socket }
}

const HEAD = ':status=200 content-type=application/grpc'
const BAD = { 'not a name': 'x' }

describe('a unary handler', () => {
  test('that returns a message sends headers, data and trailers in three frames', async () => {
    const { ask } = serving({ kind: 'unary', handle: () => Buffer.from('hello') })
    const frames = (stream: number) => [
      `headers ${stream}: ${HEAD}`,
      `data ${stream} (10)`,
      `headers ${stream} end: grpc-status=0`,
    ]
    expect(await ask(1)).toEqual(frames(1))
    expect(await ask(3)).toEqual(frames(3))
  })

  test('that throws a GrpcError ends its call with that status, message and trailers', async () => {
    const { ask, bugs } = serving({
      kind: 'unary',
      handle() {
        throw new GrpcError(STATUS.notFound, 'no such thing', { trailers: { 'x-why': 'so' } })
      },
    })
    expect(await ask(1)).toEqual([`headers 1 end: ${HEAD} grpc-status=5 grpc-message=no such thing x-why=so`])
    expect(bugs).toEqual([])
  })

  test('that throws another error ends its call with INTERNAL and does not reveal the error message', async () => {
    const { ask, bugs } = serving({ kind: 'unary', handle: () => Promise.reject(new Error('secret')) })
    expect(await ask(1)).toEqual([`headers 1 end: ${HEAD} grpc-status=13 grpc-message=internal error`])
    expect(bugs).toHaveLength(1)
  })

  const careless: Readonly<Record<string, Method>> = {
    'sends headers that cannot be sent': {
      kind: 'unary',
      handle(_request, serverCall) {
        serverCall.sendHeaders(BAD)
        return Buffer.alloc(1)
      },
    },
    'sets trailers that cannot be sent': {
      kind: 'unary',
      handle(_request, serverCall) {
        serverCall.setTrailers(BAD)
        return Buffer.alloc(1)
      },
    },
    'sets trailers that cannot be sent, a little later': {
      kind: 'unary',
      async handle(_request, serverCall) {
        await turn()
        serverCall.setTrailers(BAD)
        return Buffer.alloc(1)
      },
    },
    'throws a status with trailers that cannot be sent': {
      kind: 'unary',
      handle() {
        throw new GrpcError(STATUS.internal, 'internal error', { trailers: BAD })
      },
    },
  }

  test.each(Object.entries(careless))('that %s fails only its own call, with INTERNAL', async (_name, method) => {
    let isCareless = true
    const { ask, ends } = serving({
      kind: 'unary',
      handle: (request, serverCall) =>
        isCareless && method.kind === 'unary' ? method.handle(request, serverCall) : Buffer.from('fine'),
    })
    const failed = await ask(1)
    expect(failed.at(-1)).toMatch(/^headers 1 end: .*grpc-status=13/)
    expect(failed[0]).toContain(':status=200')
    isCareless = false
    expect(await ask(3)).toEqual([`headers 3: ${HEAD}`, 'data 3 (9)', 'headers 3 end: grpc-status=0'])
    expect(ends).toEqual([])
  })
})

test('a 4 MiB response buffers at most 512 KiB in the socket when the peer accepts 16 MiB frames', async () => {
  const { socket } = serving({ kind: 'unary', handle: () => Buffer.alloc(4 << 20) })
  socket.receive(settings([SETTING.maxFrameSize, 16_777_215], [SETTING.initialWindowSize, MAX_WINDOW]))
  socket.receive(windowUpdate(0, 1 << 30))
  await turn()
  socket.taken()
  socket.stall()
  socket.receive(call(1, '/t.T/M'))
  await turn()
  expect(socket.writableLength).toBeLessThanOrEqual(512 * 1024)
})

test('1,000 calls that fail at once with 2,000 bytes of details do not disconnect a slow reader', async () => {
  const failing = Promise.withResolvers<Uint8Array>()
  const { socket, ends } = serving({ kind: 'unary', handle: () => failing.promise })
  for (let i = 0; i < 1000; i++) socket.receive(call(2 * i + 1, '/t.T/M'))
  await turn()
  socket.taken()
  socket.stall()
  failing.reject(new GrpcError(STATUS.failedPrecondition, 'missing', { details: Buffer.alloc(2000) }))
  await turn()
  await turn()
  socket.receive(windowUpdate(0, 100), ping())
  expect(ends).toEqual([])
  socket.flow()
  expect(socket.frames().filter(({ type }) => type === FRAME_TYPE.headers)).toHaveLength(1000)
})
