import { expect, test } from 'vitest'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { DEFAULT_LIMITS } from '../../src/grpc/http2/limits.ts'
import { FRAME_TYPE } from '../../src/grpc/http2/wire-format.ts'
import type { Incoming, Service } from '../../src/grpc/service.ts'
import { describeWith } from '../../src/testing/require.ts'
import { bareClient, framed } from './bare-http2.ts'
import { type InteropServer, MAX_MESSAGE_BYTES, SERVICE } from './conversation.ts'
import { frameCounter } from './frame-counter.ts'
import { asIs, grpcJsClient, toBuffer } from './grpc-js-client.ts'
import { grpcJsServer } from './grpc-js-server.ts'
import { PYTHON } from './python-script.ts'
import { pythonServer } from './python-server.ts'
import { large, payload, repeat, type Seen } from './requests.ts'
import { startedHere } from './started.ts'
import { untilSteady } from './steady.ts'
import { timing, windlassServer } from './windlass-server.ts'

const SIZE = 64 * 1024
const COUNT = 1024
/** The most bytes, of 64 MiB, that windows, queues and sockets may hold ahead of a reader that stopped. */
const MOST_AHEAD = 12 * 1024 * 1024

const started = startedHere()

interface Reader {
  /** Started, and not yet read to its end. */
  readonly answers: AsyncIterator<Uint8Array>
  seen(): Promise<Uint8Array>
}

async function grpcJsReader({ address }: InteropServer): Promise<Reader> {
  const { client, converse } = await started(grpcJsClient(address))
  const call = client.makeServerStreamRequest(`/${SERVICE}/Large`, toBuffer, asIs, large(COUNT, SIZE))
  call.on('error', () => {})
  const seen = async () =>
    (await converse({ method: `/${SERVICE}/Seen`, kind: 'unary', messages: [payload(0)] })).answers[0] as Buffer
  return { seen, answers: call[Symbol.asyncIterator]() }
}

async function ourReader({ address }: InteropServer): Promise<Reader> {
  const channel = await started(createChannel({ address, timing }))
  const answers = channel.serverStreaming(`/${SERVICE}/Large`, large(COUNT, SIZE))[Symbol.asyncIterator]()
  return { seen: async () => (await channel.unary(`/${SERVICE}/Seen`, payload(0))).message, answers }
}

async function expectHeldBack({ seen, answers }: Reader): Promise<void> {
  // grpc-js buffers everything until its first read.
  await answers.next()
  // Called on the same connection: a reader that stops must not block other calls.
  const sent = async () => (JSON.parse(Buffer.from(await seen()).toString()) as Seen).sent
  const ahead = await untilSteady(sent)
  expect(ahead).toBeGreaterThan(0)
  expect(ahead * SIZE).toBeLessThan(MOST_AHEAD)
  let count = 1
  for (let next = await answers.next(); next.done !== true; next = await answers.next()) {
    expect(next.value.length).toBe(SIZE)
    count++
  }
  expect(count).toBe(COUNT)
}

test('back-pressure: a grpc-js client that stops reading pauses our handler', async () => {
  await expectHeldBack(await grpcJsReader(await started(windlassServer())))
})

test('back-pressure: our client that stops reading pauses our handler', async () => {
  await expectHeldBack(await ourReader(await started(windlassServer())))
})

test('back-pressure: our client that stops reading pauses a grpc-js handler', async () => {
  await expectHeldBack(await ourReader(await started(grpcJsServer())))
})

describeWith(PYTHON, 'back-pressure with the C core', () => {
  test('our client that stops reading pauses a Python handler', async () => {
    await expectHeldBack(await ourReader(await started(pythonServer())))
  })
})

/** Its handler reads nothing before `open` is called, then counts. */
function deafService() {
  const gate = Promise.withResolvers<void>()
  const handle = async (requests: Incoming): Promise<Uint8Array> => {
    await gate.promise
    let count = 0
    for await (const message of requests) count += message.length === SIZE ? 1 : 0
    return Buffer.from(String(count))
  }
  const service: Service = { name: SERVICE, methods: { Deaf: { kind: 'clientStreaming', handle } } }
  return { service, open: gate.resolve }
}

test('back-pressure: our handler that does not read pauses our client', async () => {
  const { service, open } = deafService()
  const { address } = await started(windlassServer({ services: [service] }))
  const call = (await started(createChannel({ address, timing }))).open(`/${SERVICE}/Deaf`)
  let written = 0
  const writing = (async () => {
    while (written < COUNT) {
      written++
      if (!call.write(payload(SIZE))) await call.drained()
    }
    call.finish()
  })()
  expect((await untilSteady(() => written)) * SIZE).toBeLessThan(MOST_AHEAD)
  open()
  await writing
  expect(String(await call.next())).toBe(String(COUNT))
})

test('back-pressure: our handler that does not read pauses a grpc-js client', async () => {
  const { service, open } = deafService()
  const { address } = await started(windlassServer({ services: [service] }))
  const { client } = await started(grpcJsClient(address))
  const answer = Promise.withResolvers<Buffer | undefined>()
  const call = client.makeClientStreamRequest(`/${SERVICE}/Deaf`, toBuffer, asIs, (error, message?: Buffer) =>
    error === null ? answer.resolve(message) : answer.reject(error),
  )
  let taken = 0
  for (let i = 0; i < COUNT; i++) call.write(payload(SIZE), () => taken++)
  call.end()
  expect((await untilSteady(() => taken)) * SIZE).toBeLessThan(MOST_AHEAD)
  open()
  expect(String(await answer.promise)).toBe(String(COUNT))
})

test('a message larger than every flow-control window reaches a slow reader', async () => {
  const { address } = await started(
    windlassServer({ limits: { initialWindowBytes: 16_384, streamWindowBytes: 16_384 } }),
  )
  const limits = { initialWindowBytes: 16_384, streamWindowBytes: 16_384, connectionWindowBytes: 65_535 }
  const channel = await started(createChannel({ address, timing, limits }))
  const message = payload(MAX_MESSAGE_BYTES)
  expect(Buffer.from((await channel.unary(`/${SERVICE}/Unary`, message)).message).equals(message)).toBe(true)
})

/** As in gRPC's C core: one large frame would fill the socket, and all other streams would have to wait. */
test('a peer with a large SETTINGS_MAX_FRAME_SIZE gets no frame above socketBacklogBytes', async () => {
  const between = await started(frameCounter((await started(windlassServer())).address))
  const generous = { maxFrameSize: 0xffffff, initialWindowSize: 16 * 1024 * 1024 }
  const { session, ask } = await started(bareClient(between.address, generous))
  session.once('connect', () => session.setLocalWindowSize(generous.initialWindowSize))
  const unary = { ':path': `/${SERVICE}/Unary` }
  await ask(unary, framed(payload(1))) // by now all settings are known
  const message = framed(payload(MAX_MESSAGE_BYTES))
  expect((await ask({ ':path': `/${SERVICE}/ServerStream` }, framed(repeat(1, payload(4_000_000))))).body.length).toBe(
    4_000_005,
  )
  expect((await ask(unary, message)).body.equals(message)).toBe(true)
  expect(between.largestAnswer(FRAME_TYPE.data)).toBeLessThanOrEqual(DEFAULT_LIMITS.socketBacklogBytes)
})
