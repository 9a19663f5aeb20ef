import { expect, test } from 'vitest'
import { FRAME_TYPE, SETTING } from '../../src/grpc/http2/wire-format.ts'
import {
  call,
  data,
  headers,
  lastData,
  message,
  ping,
  requestBlock,
  reset,
  windowUpdate,
} from '../../src/testing/http2-frames.ts'
import { PATHS, wanted } from './abuse-service.ts'
import { abusedServer } from './abused-server.ts'

/** The opposite of an attack: the worst behaviour of real clients must not exceed any cap. */

test('a build with --jobs=200 that is interrupted 40 times does not count as a rapid reset attack', async () => {
  await using server = await abusedServer()
  const client = await server.connect()
  let next = 1
  for (let round = 0; round < 40; round++) {
    const streams = Array.from({ length: 200 }, (_, i) => next + 2 * i)
    next += 400
    client.send(...streams.map((stream) => headers(stream, requestBlock(PATHS.first))))
    await client.roundTrip()
    client.send(...streams.map((stream) => reset(stream)))
    await client.roundTrip()
    expect(server.handlers.running).toBe(0)
    // The developer waits two seconds before the next build.
    server.timing.advance(2000)
  }
  expect(server.ends).toEqual([])
  expect(server.handlers.started).toBe(8000)
  await server.expectServing()
})

test('1,000 uploads that are answered before their last byte arrives do not close the connection', async () => {
  await using server = await abusedServer()
  const client = await server.connect()
  client.send(windowUpdate(0, 1 << 30))
  const chunk = message(Buffer.alloc(4000))
  for (let i = 0; i < 1000; i++) {
    const stream = 2 * i + 1
    client.send(headers(stream, requestBlock(PATHS.first)), data(stream, chunk))
    // The response is on its way; the client has not received it yet.
    for (let more = 0; more < 10; more++) client.send(data(stream, chunk))
    client.send(lastData(stream, chunk))
    if (i % 50 === 49) await client.answer(stream)
  }
  for (let i = 0; i < 1000; i++) {
    await client.answer(2 * i + 1)
    expect(client.field(2 * i + 1, 'grpc-status')).toBe('0')
  }
  expect(server.ends).toEqual([])
  await server.expectServing()
})

test('6,000 uploads that the client resets after an early response do not close the connection', async () => {
  await using server = await abusedServer()
  const client = await server.connect()
  client.send(windowUpdate(0, 1 << 30))
  const chunk = message(Buffer.alloc(100))
  for (let i = 0; i < 6000; i++) {
    const stream = 2 * i + 1
    client.send(headers(stream, requestBlock(PATHS.first)), data(stream, chunk))
    await client.answer(stream)
    client.send(data(stream, chunk), reset(stream))
  }
  await client.roundTrip()
  expect(server.ends).toEqual([])
  await server.expectServing()
})

test('a keepalive ping every ten seconds for a day does not count as a ping flood', async () => {
  await using server = await abusedServer()
  const client = await server.connect()
  await client.roundTrip()
  for (let passed = 0; passed < 24 * 3600; passed += 10) {
    server.timing.advance(10_000)
    await client.roundTrip()
  }
  expect(server.ends).toEqual([])
  client.send(call(1, PATHS.echo))
  await client.answer(1)
  expect(client.field(1, 'grpc-status')).toBe('0')
  await server.expectServing()
})

test('a client that probes its bandwidth with one ping per burst does not count as a ping flood', async () => {
  await using server = await abusedServer()
  const client = await server.connect({ settings: [[SETTING.initialWindowSize, 1 << 20]] })
  client.send(windowUpdate(0, 1 << 30))
  const size = 256 * 1024
  const count = 2000
  client.send(call(1, PATHS.stream, wanted(size - 5, count)))
  let given = 1 << 20
  let pings = 0
  while (client.dataBytes < size * count) {
    const seen = client.dataBytes
    await client.until('more has come', () => client.dataBytes > seen)
    client.send(ping(), windowUpdate(1, client.dataBytes + (1 << 20) - given))
    given = client.dataBytes + (1 << 20)
    pings++
    server.timing.advance(1)
  }
  await client.answer(1)
  await client.roundTrip()
  expect(client.field(1, 'grpc-status')).toBe('0')
  expect(client.count(FRAME_TYPE.ping)).toBeGreaterThanOrEqual(pings)
  expect(server.ends).toEqual([])
  await server.expectServing()
})
