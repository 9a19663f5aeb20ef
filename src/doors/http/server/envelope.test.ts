import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { type Fault, FaultError } from '../../../base/fault.ts'
import { silentLog } from '../../../base/log.ts'
import { BodyTooLarge } from './body-limit.ts'
import { bothResponse, dataResponse, errorResponse, SupersededError } from './envelope.ts'

const tools = { newId: () => '0123456789ab', clock: { now: () => 0 }, log: silentLog }
const around = { request_id: 'req_01234567', timestamp: '1970-01-01T00:00:00.000Z' }

const refusal = async (error: Error) => {
  const app = new Hono()
  app.onError((thrown, c) => errorResponse(c, tools, thrown))
  app.get('/', () => {
    throw error
  })
  const answer = await app.request('/')
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() }
}

test('dataResponse puts the data into the envelope, and bothResponse also beside it', async () => {
  const app = new Hono()
  app.get('/one', (c) => dataResponse(c, tools, { id: 'w' }))
  app.get('/both', (c) => bothResponse(c, tools, { id: 'w' }))
  expect(await (await app.request('/one')).json()).toEqual({ status: 'ok', ...around, data: { id: 'w' } })
  expect(await (await app.request('/both')).json()).toEqual({ id: 'w', status: 'ok', ...around, data: { id: 'w' } })
})

test.each<[Fault, number, string]>([
  [{ kind: 'invalid', what: 'no' }, 400, 'VALIDATION_ERROR'],
  [{ kind: 'denied', what: 'no' }, 403, 'FORBIDDEN'],
  [{ kind: 'absent', what: 'no' }, 404, 'NOT_FOUND'],
  [{ kind: 'unavailable', what: 'no' }, 503, 'UNAVAILABLE'],
])('a fault has its HTTP status and error code: %o', async (fault, status, code) => {
  const answer = await refusal(new FaultError(fault))
  expect(answer).toMatchObject({ status, body: { status: 'error', ...around, data: null, error: { code } } })
})

test('missing blobs are listed, and an exhausted fault has Retry-After', async () => {
  const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 5 } as const
  const missing = await refusal(new FaultError({ kind: 'missing', digests: [digest] }))
  expect(missing).toMatchObject({
    status: 409,
    body: { error: { code: 'CONFLICT', missing: [`${digest.hash}/5`] } },
  })
  const exhausted = await refusal(new FaultError({ kind: 'exhausted', resource: 'the queue', retryAfterMs: 1500 }))
  expect([exhausted.status, exhausted.retryAfter]).toEqual([429, '2'])
})

test('SupersededError is 409, and BodyTooLarge is 413', async () => {
  expect(await refusal(new SupersededError('gone'))).toMatchObject({
    status: 409,
    body: { error: { message: 'gone' } },
  })
  expect((await refusal(new BodyTooLarge())).status).toBe(413)
})

test('another error is 500 without its message', async () => {
  const { status, body } = await refusal(new Error('password'))
  expect([status, JSON.stringify(body).includes('password')]).toEqual([500, false])
})
