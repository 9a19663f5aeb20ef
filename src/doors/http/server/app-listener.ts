import type { RequestListener } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { Hono } from 'hono'
import { errorBody, type HttpError, statusOf } from './http-error.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/** Passes the requests of an HTTP server of Node to an app. */
export const appListener = (app: Hono): RequestListener =>
  getRequestListener(app.fetch, { errorHandler: unreadable }) as RequestListener

/** The response to a request that the app cannot get: its target or Host is invalid. */
function unreadable(error: unknown): Response {
  const answer: HttpError =
    error instanceof RequestError
      ? { kind: 'invalid', message: `The request cannot be read: ${error.message}` }
      : { kind: 'bug', message: 'Internal error; see the log of the server' }
  return Response.json(errorBody(answer), { status: statusOf(answer), headers: { ...SECURITY_HEADERS } })
}
