import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { FaultError } from '../../../base/fault.ts'
import type { Log } from '../../../base/log.ts'
import { BodyTooLarge } from '../server/body-limit.ts'
import { statusOf } from '../server/http-error.ts'

interface ErrorView {
  readonly status: number
  readonly message: string
  readonly headers?: Record<string, string>
}

/** Errors of these routes are a line of text: Bazel shows it as it is. */
export function plainError(error: Error, c: Context, log: Log): Response {
  const { status, message, headers } = errorView(error, c, log)
  // The rest of the body would have to be read before the connection could carry another request.
  const ending = c.req.method === 'PUT' ? { connection: 'close' } : {}
  return c.text(`${message}\n`, status as ContentfulStatusCode, { ...headers, ...ending })
}

function errorView(error: Error, c: Context, log: Log): ErrorView {
  if (error instanceof HTTPException) return { status: error.status, message: error.message }
  if (error instanceof BodyTooLarge) return { status: 413, message: 'The body is too large' }
  if (error instanceof FaultError && error.fault.kind !== 'bug') return faultView(error)
  if (c.req.raw.signal.aborted) return { status: 499, message: 'The client closed the connection' } // the client has disconnected
  log.error({ method: c.req.method, path: c.req.path, err: error }, 'http cache request failed')
  return { status: 500, message: 'Internal error; see the log of the server' }
}

/**
 * A full store is 507 here, because build tools expect it from other caches. Elsewhere `exhausted` means that the
 * caller sends too much.
 */
function faultView({ fault, message }: FaultError): ErrorView {
  if (fault.kind !== 'exhausted') return { status: statusOf({ kind: fault.kind, message }), message }
  return { status: 507, message, headers: { 'retry-after': String(Math.ceil(fault.retryAfterMs / 1000)) } }
}
