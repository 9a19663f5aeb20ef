import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { routePath } from 'hono/route'
import type { Clock } from '../../../base/clock.ts'
import { FaultError } from '../../../base/fault.ts'
import type { Log } from '../../../base/log.ts'
import { ADDRESSES_PATH, type ServerAddresses } from '../../../model/server-addresses.ts'
import { BodyTooLarge, bodyRules, bodyTooLarge } from './body-rules.ts'
import { type BrowserRules, browserRules } from './browser-rules.ts'
import { knowingCallers } from './caller-address.ts'
import { refusingAboveCap } from './connection-cap.ts'
import { crossOrigin } from './cross-origin.ts'
import { frontPage } from './front-page.ts'
import { type ErrorShape, type HttpError, sendError } from './http-error.ts'
import type { HttpMeter } from './http-meter.ts'
import { type RateLimits, rateLimits } from './rate-limits.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { becomingSockets } from './web-sockets.ts'

export interface ReadinessView {
  readonly ready: boolean
  readonly reasons: readonly string[]
  /** Parts that do not work although the server is ready. */
  readonly warnings?: readonly string[]
}

export interface HttpDoorOptions extends BrowserRules {
  readonly readiness: () => ReadinessView
  readonly metricsText: () => Promise<string>
  readonly metricsContentType: string
  readonly version: string
  /** Error shapes of the doors: the first one that covers the path of a request is used, else `errorBody`. */
  readonly errorShapes?: readonly ErrorShape[]
  /** Where this server is, for clients that know one of its two ports. */
  readonly addresses?: () => ServerAddresses | undefined
  readonly log: Log
  readonly meter?: HttpMeter
  /** Limit of bodies whose route sets no own limit; 8 MiB unless given. */
  readonly maxBodyBytes?: number
  /** Proxies whose X-Forwarded-For is trusted; see caller-address.ts. None unless given. */
  readonly trustedProxies?: readonly string[]
  /** How often callers may come; as often as they like unless given. */
  readonly rates?: RateLimits & { readonly clock: Clock }
}

/**
 * The app that all HTTP doors hang their routes on (`door.route('/api/v1', …)`). What holds for every one of them, the
 * rules against foreign web pages first, is put in here before any route; a route that throws is answered here too.
 */
export function httpDoor(options: HttpDoorOptions): Hono {
  const { log, version } = options
  const app = new Hono()
  app.use(sealed(options.meter))
  app.use(knowingCallers(options.trustedProxies ?? []))
  app.use(shapingErrors(options.errorShapes ?? []))
  app.use(refusingAboveCap)
  app.use(crossOrigin(options.allowedOrigins))
  app.use(browserRules(options, log))
  // After the rules against pages: refused requests use up no caller's rate.
  if (options.rates !== undefined) app.use(rateLimits(options.rates, options.rates.clock))
  app.use(becomingSockets)
  app.use(methodNotAllowed({ app, onMethodNotAllowed: wrongMethod }))
  app.use(bodyRules(options.maxBodyBytes ?? 8 * 1024 * 1024))

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

  app.notFound((c) => sendError(c, { kind: 'absent', message: `There is nothing at ${c.req.path.slice(0, 200)}` }))
  app.onError((error, c) => sendError(c, told(error, c, log)))
  return app
}

const shapingErrors = (shapes: readonly ErrorShape[]): MiddlewareHandler => {
  const shapeOf: ErrorShape = (c, error) => {
    for (const shape of shapes) {
      const body = shape(c, error)
      if (body !== undefined) return body
    }
    return undefined
  }
  return (c, next) => {
    c.set('errorShape', shapeOf)
    return next()
  }
}

/** Outermost, so that refusals and errors are counted and sealed like any other answer. */
const sealed =
  (meter: HttpMeter | undefined) =>
  async (c: Context, next: () => Promise<void>): Promise<void> => {
    const answered = meter?.started()
    await next()
    addSecurityHeaders(c.res.headers)
    answered?.({ route: routeOf(c), method: c.req.method, status: c.res.status })
  }

/**
 * Everything in front of the routes matches everywhere, so its pattern coming last means that no route did. What a
 * parameter must look like is the router's business.
 */
const routeOf = (c: Context): string => {
  const path = routePath(c, -1)
  return path === '/*' ? 'unmatched' : path.replaceAll(/\{[^}]*\}/g, '')
}

/** Health alone, for probes that have no client certificate: nothing else is served there. */
export function healthDoor({ readiness, version }: Pick<HttpDoorOptions, 'readiness' | 'version'>): Hono {
  const app = new Hono()
  app.use(sealed(undefined))
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
  const message = `${c.req.method} is not for ${c.req.path.slice(0, 200)}: use ${methods.join(' or ')}`
  return sendError(c, { kind: 'invalid', status: 405, message, headers: { allow } })
}

function told(error: Error, c: Context, log: Log): HttpError {
  if (error instanceof BodyTooLarge) return bodyTooLarge(undefined)
  if (error instanceof FaultError) return { kind: error.fault.kind, message: error.message }
  if (error instanceof HTTPException && error.status < 500) {
    return { kind: 'invalid', status: error.status, message: error.message }
  }
  if (c.req.raw.signal.aborted) return { kind: 'cancelled', message: 'The caller went away' } // the client has disconnected
  log.error({ method: c.req.method, path: c.req.path, err: error }, 'http request failed')
  return { kind: 'bug', message: 'Something went wrong here; the log of the server says more' }
}
