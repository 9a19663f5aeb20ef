import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { formatDigest } from '../../../base/digest-text.ts'
import { type Fault, FaultError } from '../../../base/fault.ts'
import type { Log } from '../../../base/log.ts'
import { BodyTooLarge } from './body-limit.ts'

/**
 * The envelope of responses to workers and workflow clients over HTTP: `{status, request_id, timestamp, data}`, or
 * `error` in place of data.
 */
export interface EnvelopeTools {
  readonly newId: () => string
  readonly clock: { now(): number }
  readonly log: Log
}

const STATUS_AND_CODE = {
  invalid: [400, 'VALIDATION_ERROR'],
  denied: [403, 'FORBIDDEN'],
  absent: [404, 'NOT_FOUND'],
  missing: [409, 'CONFLICT'],
  exhausted: [429, 'TOO_MANY_REQUESTS'],
  cancelled: [499, 'CANCELLED'],
  bug: [500, 'INTERNAL_ERROR'],
  unavailable: [503, 'UNAVAILABLE'],
  late: [504, 'TIMEOUT'],
} as const satisfies Record<Fault['kind'], readonly [number, string]>

/** The caller refers to a lease or a registration that another worker holds now; an unknown one is 404. */
export class SupersededError extends Error {
  override readonly name = 'Superseded'
}

const head = ({ newId, clock }: EnvelopeTools, status: 'ok' | 'error') => ({
  status,
  request_id: `req_${newId().slice(0, 8)}`,
  timestamp: new Date(clock.now()).toISOString(),
})

export function dataResponse(c: Context, tools: EnvelopeTools, data: unknown): Response {
  return c.json({ ...head(tools, 'ok'), data })
}

/**
 * The protocol's description shows this response once with its envelope and once without, so clients may read the
 * fields in either place. No field has the name of a part of the envelope.
 */
export function bothResponse(c: Context, tools: EnvelopeTools, data: object): Response {
  return c.json({ ...data, ...head(tools, 'ok'), data })
}

export function errorResponse(c: Context, tools: EnvelopeTools, error: Error): Response {
  const { status, code, message, headers, more } = errorView(c, tools, error)
  const body = { ...head(tools, 'error'), data: null, error: { code, message, ...more } }
  return c.json(body, status as ContentfulStatusCode, headers)
}

interface ErrorView {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly headers?: Record<string, string>
  readonly more?: object
}

function errorView(c: Context, { log }: EnvelopeTools, error: Error): ErrorView {
  const { message } = error
  if (error instanceof SupersededError) return { status: 409, code: 'CONFLICT', message }
  if (error instanceof BodyTooLarge) return { status: 413, code: 'VALIDATION_ERROR', message: 'The body is too large' }
  if (error instanceof HTTPException && error.status < 500)
    return { status: error.status, code: 'VALIDATION_ERROR', message }
  if (error instanceof FaultError && error.fault.kind !== 'bug') return faultView(error)
  if (c.req.raw.signal.aborted) return { status: 499, code: 'CANCELLED', message: 'The client disconnected' } // unread
  log.error({ method: c.req.method, path: c.req.path, err: error }, 'http request failed')
  return { status: 500, code: 'INTERNAL_ERROR', message: 'Internal error; see the log of the server' }
}

function faultView({ fault, message }: FaultError): ErrorView {
  const [status, code] = STATUS_AND_CODE[fault.kind]
  if (fault.kind === 'missing') return { status, code, message, more: { missing: fault.digests.map(formatDigest) } }
  if (fault.kind === 'exhausted') {
    const headers = { 'retry-after': String(Math.ceil(fault.retryAfterMs / 1000)) }
    if (fault.why !== 'disk') return { status, code, message, headers }
    const [down, name] = STATUS_AND_CODE.unavailable // a full disk is a fault of the server, not of the caller
    return { status: down, code: name, message, headers }
  }
  return { status, code, message, ...(fault.kind === 'unavailable' && { headers: { 'retry-after': '1' } }) }
}
