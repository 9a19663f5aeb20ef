import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { FaultError } from '../../../base/fault.ts'
import type { Log } from '../../../base/log.ts'
import { ADDRESSES_PATH, type ServerAddresses } from '../../../model/server-addresses.ts'
import { BodyTooLarge, bodyTooLarge } from './body-limit.ts'
import { frontPage } from './front-page.ts'
import { type HttpError, sendError } from './http-error.ts'
import { type RequestRules, requestRules } from './request-rules.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

export interface ReadinessView {
  readonly ready: boolean
  readonly reasons: readonly string[]
  /** Components that do not work although the server is ready. */
  readonly warnings?: readonly string[]
}

export interface HttpDoorOptions extends RequestRules {
  readonly readiness: () => ReadinessView
  readonly metricsText: () => Promise<string>
  readonly metricsContentType: string
  readonly version: string
  /** The addresses of this server, for clients that have only one of its two ports. */
  readonly addresses?: () => ServerAddresses | undefined
}

/**
 * The app to which all HTTP doors add their routes (`door.route('/api/v1', …)`). Every request passes the rules before
 * its route. Errors that a route throws are answered here.
 */
export function httpDoor(options: HttpDoorOptions): Hono {
  const { log, version } = options
  const app = new Hono()
  app.use(requestRules(options))
  app.use(methodNotAllowed({ app, onMethodNotAllowed: wrongMethod }))

  app.get('/', (c) => frontPage(c, version))
  app.get('/healthz', (c) => c.json({ alive: true, version }))
  app.get('/readyz', (c) => readyz(c, options.readiness()))
  app.get(ADDRESSES_PATH, (c) => {
    const addresses = options.addresses?.()
    return addresses === undefined ? c.notFound() : c.json(addresses)
  })
  app.get('/metrics', async (c) =>
    c.body(await options.metricsText(), 200, { 'content-type': options.metricsContentType }),
  )

  app.notFound((c) => sendError(c, { kind: 'absent', message: `No page or route at ${c.req.path.slice(0, 200)}` }))
  app.onError((error, c) => sendError(c, errorOf(error, c, log)))
  return app
}

/** Serves health alone, for probes that have no client certificate. */
export function healthDoor({ readiness, version }: Pick<HttpDoorOptions, 'readiness' | 'version'>): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.res.headers.set(name, value)
  })
  app.get('/healthz', (c) => c.json({ alive: true, version }))
  app.get('/readyz', (c) => readyz(c, readiness()))
  app.notFound((c) => sendError(c, { kind: 'absent', message: 'Only /healthz and /readyz are served here' }))
  return app
}

function readyz(c: Context, { ready, reasons, warnings = [] }: ReadinessView): Response {
  if (ready) return c.json({ ready, reasons, ...(warnings.length > 0 && { warnings }) })
  const error = { kind: 'unavailable', message: `Not ready: ${reasons.join('; ') || 'no reason given'}` }
  return c.json({ ready, reasons, error }, 503)
}

function wrongMethod(c: Context, methods: readonly string[]): Response {
  const allow = methods.join(', ')
  if (c.req.method === 'OPTIONS') return c.body(null, 204, { allow })
  const message = `${c.req.method} is not supported for ${c.req.path.slice(0, 200)}: use ${methods.join(' or ')}`
  return sendError(c, { kind: 'invalid', status: 405, message, headers: { allow } })
}

function errorOf(error: Error, c: Context, log: Log): HttpError {
  if (error instanceof BodyTooLarge) return bodyTooLarge(undefined)
  if (error instanceof FaultError) return { kind: error.fault.kind, message: error.message }
  if (error instanceof HTTPException && error.status < 500) {
    return { kind: 'invalid', status: error.status, message: error.message }
  }
  if (c.req.raw.signal.aborted) return { kind: 'cancelled', message: 'The client disconnected' }
  log.error({ method: c.req.method, path: c.req.path, err: error }, 'http request failed')
  return { kind: 'bug', message: 'Internal error; see the log of the server' }
}
