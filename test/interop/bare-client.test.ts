import { expect, test } from 'vitest'
import { STATUS } from '../../src/grpc/status.ts'
import { bareClient, framed } from './bare-http2.ts'
import { SERVICE } from './conversation.ts'
import { recordingObserver } from './recording-observer.ts'
import { payload } from './requests.ts'
import { startedHere } from './started.ts'
import { type WindlassServerOptions, windlassServer } from './windlass-server.ts'

const started = startedHere()
const UNARY = `/${SERVICE}/Unary`

async function client(options?: WindlassServerOptions) {
  return await started(bareClient((await started(windlassServer(options))).address))
}

test('a plain GET gets 405', async () => {
  const { ask } = await client()
  const { headers } = await ask({ ':method': 'GET', ':path': '/', 'content-type': 'text/html' })
  expect(headers[':status']).toBe(405)
})

test('a body that is not gRPC gets 415', async () => {
  const { ask } = await client()
  const { headers } = await ask({ ':path': UNARY, 'content-type': 'application/json' }, Buffer.from('{}'))
  expect(headers[':status']).toBe(415)
})

test('application/grpc+proto is accepted as gRPC, and application/grpc-web is not', async () => {
  const { ask } = await client()
  const proto = await ask({ ':path': UNARY, 'content-type': 'application/grpc+proto' }, framed(payload(3)))
  expect(proto.body).toEqual(framed(payload(3)))
  const web = await ask({ ':path': UNARY, 'content-type': 'application/grpc-web' }, framed(payload(3)))
  expect(web.headers[':status']).toBe(415)
})

test('headers above maxHeaderBytes get 431, and the connection stays open', async () => {
  const { ask } = await client({ limits: { maxHeaderBytes: 4096 } })
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x-${i}`, 'v']))
  const { headers } = await ask({ ':path': UNARY, ...many }, framed(payload(3)))
  expect(headers[':status']).toBe(431)
  expect((await ask({ ':path': UNARY }, framed(payload(3)))).body).toEqual(framed(payload(3)))
})

test('a header block far above maxHeaderBytes closes the connection with ENHANCE_YOUR_CALM', async () => {
  const observer = recordingObserver()
  const { ask, session } = await client({ observer, limits: { maxHeaderBytes: 16_384 } })
  const goaway = new Promise((resolve) => session.on('goaway', resolve))
  const endless = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`x-${i}`, `${i}~`.repeat(500)]))
  await expect(ask({ ':path': UNARY, ...endless })).rejects.toThrow()
  expect(await goaway).toBe(11) // ENHANCE_YOUR_CALM
  expect(observer.closed).toMatchObject([{ flood: 'continuations' }])
})

test('the server ends a call at its deadline with DEADLINE_EXCEEDED', async () => {
  const observer = recordingObserver()
  const { ask } = await client({ observer })
  const answer = await ask({ ':path': `/${SERVICE}/Slow`, 'grpc-timeout': '20m' }, framed(payload(1)))
  // On a busy machine the deadline may pass before the handler responds, and then the response is trailers-only.
  expect({ ...answer.headers, ...answer.trailers }['grpc-status']).toBe(String(STATUS.deadlineExceeded))
  expect(observer.finished).toEqual([{ method: 'Slow', code: STATUS.deadlineExceeded }])
})

test('a malformed grpc-timeout is refused with INTERNAL', async () => {
  const { ask } = await client()
  const { headers } = await ask({ ':path': UNARY, 'grpc-timeout': 'soon' }, framed(payload(1)))
  expect(headers).toMatchObject({ 'grpc-status': String(STATUS.internal), 'grpc-message': /grpc-timeout/ })
})

test.each([
  ['no message', Buffer.alloc(0)],
  ['two messages', Buffer.concat([framed(payload(1)), framed(payload(2))])],
  ['a second message larger than any window', Buffer.concat([framed(payload(1)), framed(payload(8 << 20))])],
  ['half a message', framed(payload(9)).subarray(0, 7)],
  ['half a prefix', Buffer.of(0, 0)],
  ['unknown flags', Buffer.of(2, 0, 0, 0, 0)],
])('a unary call with %s fails with INTERNAL', async (_what, body) => {
  const { ask } = await client()
  expect((await ask({ ':path': UNARY }, body)).headers['grpc-status']).toBe(String(STATUS.internal))
})

test('the server acknowledges a PING with its payload', async () => {
  const { session, ask } = await client()
  await ask({ ':path': UNARY }, framed(payload(1)))
  const printed = Buffer.from('are you?')
  const received = await new Promise((resolve) => session.ping(printed, (_error, _ms, answer) => resolve(answer)))
  expect(received).toEqual(printed)
})
