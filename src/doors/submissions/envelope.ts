import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { BodyTooLarge } from '../http/body-rules.ts'
import { statusOf } from '../http/http-error.ts'
import type { SubmissionsDoorOptions } from './submissions-door.ts'

type Tools = Pick<SubmissionsDoorOptions, 'clock' | 'newId' | 'log'>

/** What every answer of this interface comes in. */
const around = ({ clock, newId }: Tools) => ({
  request_id: newId(),
  timestamp: new Date(clock.now()).toISOString(),
})

export const answer = (c: Context, data: unknown, tools: Tools): Response =>
  c.json({ status: 'ok', ...around(tools), data })

/** A fault in the same words as everywhere, in this envelope. */
export function refuse(error: Error, c: Context, tools: Tools): Response {
  const { status, code, message, headers, more } = told(error, c, tools)
  const body = { status: 'error', ...around(tools), error: { code, message, ...more } }
  return c.json(body, status as ContentfulStatusCode, headers)
}

interface Told {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
  readonly more?: object
}

function told(error: Error, c: Context, { log }: Tools): Told {
  if (error instanceof BodyTooLarge) return { status: 413, code: 'invalid', message: 'The body is too large' }
  if (error instanceof HTTPException && error.status < 500)
    return { status: error.status, code: 'invalid', message: error.message }
  if (!(error instanceof FaultError)) {
    log.error({ method: c.req.method, path: c.req.path, err: error }, 'http request failed')
    return { status: 500, code: 'bug', message: 'Something went wrong here; the log of the server says more' }
  }
  const { fault, message } = error
  const plain = { status: statusOf({ kind: fault.kind, message }), code: fault.kind, message }
  if (fault.kind === 'missing') return { ...plain, more: { missing: fault.digests.map(formatDigest) } }
  if (fault.kind === 'exhausted')
    return { ...plain, headers: { 'retry-after': String(Math.ceil(fault.retryAfterMs / 1000)) } }
  return plain
}
