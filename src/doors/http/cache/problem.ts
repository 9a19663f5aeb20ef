import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { FaultError } from '../../../base/fault.ts'
import type { Log } from '../../../base/log.ts'
import { BodyTooLarge } from '../server/body-rules.ts'
import { statusOf } from '../server/http-error.ts'

interface Told {
  readonly status: number
  readonly message: string
  readonly headers?: Record<string, string>
}

/** Errors of these routes are a line of text: Bazel shows it as it is. */
export function plainError(error: Error, c: Context, log: Log): Response {
  const { status, message, headers } = told(error, c, log)
  // The rest of the body would have to be read before the connection could carry another request.
  const ending = c.req.method === 'PUT' ? { connection: 'close' } : {}
  return c.text(`${message}\n`, status as ContentfulStatusCode, { ...headers, ...ending })
}

function told(error: Error, c: Context, log: Log): Told {
  if (error instanceof HTTPException) return { status: error.status, message: error.message }
  if (error instanceof BodyTooLarge) return { status: 413, message: 'The body is too large' }
  if (error instanceof FaultError && error.fault.kind !== 'bug') return toldFault(error)
  if (c.req.raw.signal.aborted) return { status: 499, message: 'The caller went away' } // the client has disconnected
  log.error({ method: c.req.method, path: c.req.path, err: error }, 'http cache request failed')
  return { status: 500, message: 'Something went wrong here; the log of the server says more' }
}

/** A full store is 507 here, as build tools know it from other caches; elsewhere `exhausted` is the caller's haste. */
function toldFault({ fault, message }: FaultError): Told {
  if (fault.kind !== 'exhausted') return { status: statusOf({ kind: fault.kind, message }), message }
  return { status: 507, message, headers: { 'retry-after': String(Math.ceil(fault.retryAfterMs / 1000)) } }
}
