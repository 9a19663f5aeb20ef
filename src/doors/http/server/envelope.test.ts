import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { type Fault, FaultError } from '../../../base/fault.ts'
import { silentLog } from '../../../base/log.ts'
import { BodyTooLarge } from './body-rules.ts'
import { bothResponse, errorResponse, SupersededError, tell } from './envelope.ts'

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

test('an answer has its data in the envelope, and for readers of the other kind beside it, too', async () => {
  const app = new Hono()
  app.get('/one', (c) => tell(c, tools, { id: 'w' }))
  app.get('/both', (c) => bothResponse(c, tools, { id: 'w' }))
  expect(await (await app.request('/one')).json()).toEqual({ status: 'ok', ...around, data: { id: 'w' } })
  expect(await (await app.request('/both')).json()).toEqual({ id: 'w', status: 'ok', ...around, data: { id: 'w' } })
})

test.each<[Fault, number, string]>([
  [{ kind: 'invalid', what: 'no' }, 400, 'VALIDATION_ERROR'],
  [{ kind: 'denied', what: 'no' }, 403, 'FORBIDDEN'],
  [{ kind: 'absent', what: 'no' }, 404, 'NOT_FOUND'],
  [{ kind: 'unavailable', what: 'no' }, 503, 'UNAVAILABLE'],
])('a fault has a status and a word: %o', async (fault, status, code) => {
  const told = await refusal(new FaultError(fault))
  expect(told).toMatchObject({ status, body: { status: 'error', ...around, data: null, error: { code } } })
})

test('what is missing is listed, and who is to come back hears when', async () => {
  const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 5 } as const
  const missing = await refusal(new FaultError({ kind: 'missing', digests: [digest] }))
  expect(missing).toMatchObject({
    status: 409,
    body: { error: { code: 'CONFLICT', missing: [`${digest.hash}/5`] } },
  })
  const exhausted = await refusal(new FaultError({ kind: 'exhausted', resource: 'the queue', retryAfterMs: 1500 }))
  expect([exhausted.status, exhausted.retryAfter]).toEqual([429, '2'])
})

test('what is not theirs any more is a conflict, and a body may be too large', async () => {
  expect(await refusal(new SupersededError('gone'))).toMatchObject({
    status: 409,
    body: { error: { message: 'gone' } },
  })
  expect((await refusal(new BodyTooLarge())).status).toBe(413)
})

test('a mistake of ours is told without its words', async () => {
  const { status, body } = await refusal(new Error('password'))
  expect([status, JSON.stringify(body).includes('password')]).toEqual([500, false])
})
