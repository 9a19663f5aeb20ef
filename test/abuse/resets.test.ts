import { describe, expect, test } from 'vitest'
import { ERROR, FLAG } from '../../src/grpc/http2/wire-format.ts'
import {
  call,
  data,
  headers,
  lastData,
  message,
  priority,
  requestBlock,
  reset,
  windowUpdate,
} from '../../src/testing/http2-frames.ts'
import { PATHS } from './abuse-service.ts'
import { abusedServer } from './abused-server.ts'

const MOST_STREAMS = 50
const ATTEMPTS = 30_000

/** The frames for ATTEMPTS streams, one stream after the other. */
function* streams(make: (stream: number) => Buffer): Generator<Buffer> {
  for (let i = 0; i < ATTEMPTS; i++) yield make(2 * i + 1)
}

async function expectCutOff(make: (stream: number) => Buffer): Promise<void> {
  await using server = await abusedServer({ maxConcurrentStreams: MOST_STREAMS })
  const attacker = await server.connect()
  await attacker.sendAll(streams(make))
  expect(await server.ended()).toMatchObject({ code: ERROR.enhanceYourCalm, flood: 'resets' })
  await attacker.until('the server says why', () => attacker.goaway !== undefined)
  expect(attacker.goaway?.code).toBe(ERROR.enhanceYourCalm)
  expect(server.handlers.most).toBeLessThanOrEqual(MOST_STREAMS)
  await server.expectServing()
}

describe('rapid reset', () => {
  test('closes the connection and never runs more handlers than max_concurrent_streams', async () => {
    await expectCutOff((stream) => Buffer.concat([call(stream, PATHS.wait), reset(stream)]))
  })

  test('closes the connection when no body was sent', async () => {
    await expectCutOff((stream) => Buffer.concat([headers(stream, requestBlock(PATHS.hold)), reset(stream)]))
  })

  test('closes the connection when the handlers end with the reset', async () => {
    await expectCutOff((stream) => Buffer.concat([headers(stream, requestBlock(PATHS.first)), reset(stream)]))
  })
})

describe('resets that a client provokes the server to send', () => {
  const waiting = (stream: number) => call(stream, PATHS.wait)
  const open = (stream: number) => headers(stream, requestBlock(PATHS.hold))
  const provocations: Readonly<Record<string, (stream: number) => Buffer[]>> = {
    'a window update of nothing': (stream) => [waiting(stream), windowUpdate(stream, 0)],
    'a window that overflows': (stream) => [waiting(stream), windowUpdate(stream, 0x7fffffff)],
    'data after the end': (stream) => [waiting(stream), data(stream, Buffer.from('more'))],
    'headers after the end': (stream) => [waiting(stream), headers(stream, requestBlock(PATHS.wait))],
    'a stream that depends on itself': (stream) => [waiting(stream), priority(stream, stream)],
    'trailers that do not end the stream': (stream) => [open(stream), headers(stream, Buffer.alloc(0))],
    'malformed trailers': (stream) => [
      open(stream),
      headers(stream, Buffer.from([0x82]), FLAG.endHeaders | FLAG.endStream),
    ],
    'a body longer than announced': (stream) => [
      headers(stream, requestBlock(PATHS.hold, ['content-length', '3'])),
      data(stream, message(Buffer.alloc(0))),
    ],
    'a body shorter than announced': (stream) => [
      headers(stream, requestBlock(PATHS.hold, ['content-length', '30'])),
      lastData(stream, message(Buffer.alloc(0))),
    ],
    'a malformed head': (stream) => [headers(stream, requestBlock(PATHS.echo, ['Upper', 'case']))],
    'more streams than are allowed': (stream) => [waiting(stream)],
  }

  test.each(Object.entries(provocations))('%s counts as a reset and closes the connection', async (_name, make) => {
    await expectCutOff((stream) => Buffer.concat(make(stream)))
  })
})
