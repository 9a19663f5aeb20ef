/**
 * The rules that every request passes before its route, in this order: the connection, the host, the origin of a web
 * page, the rate of the caller, the body. No route sees a refused request. Every response, a refusal or an error too,
 * gets the security headers and is counted.
 */
import type { IncomingMessage } from 'node:http'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes, routePath } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import type { Clock } from '../../../base/clock.ts'
import { bodyTooLarge, limitChunks } from './body-limit.ts'
import { type BrowserRules, browserRules } from './browser-rules.ts'
import { peerOf, type RateLimits, rateLimits } from './callers.ts'
import { socketsAboveCap, TOO_MANY_CONNECTIONS } from './connection-cap.ts'
import { type ErrorShape, firstShape, type HttpError, sendError } from './http-error.ts'
import type { HttpMeter } from './http-meter.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { callerBehindProxies, proxyList } from './trusted-proxies.ts'
import { upgradeAnswer } from './web-sockets.ts'

export interface RequestRules extends BrowserRules {
  /** Error shapes of the doors: the first one that covers the path of a request is used, else `errorBody`. */
  readonly errorShapes?: readonly ErrorShape[]
  readonly meter?: HttpMeter
  /** Limit of bodies whose route sets no own limit; 8 MiB unless given. */
  readonly maxBodyBytes?: number
  /** Proxies whose X-Forwarded-For is trusted; see trusted-proxies.ts. None unless given. */
  readonly trustedProxies?: readonly string[]
  /** Limits of requests per second; unlimited unless given. */
  readonly rates?: RateLimits & { readonly clock: Clock }
}

export function requestRules(options: RequestRules): MiddlewareHandler {
  const { meter, rates, maxBodyBytes = 8 * 1024 * 1024 } = options
  const shape = firstShape(options.errorShapes ?? [])
  const isProxy = proxyList(options.trustedProxies ?? [])
  const browser = browserRules(options)
  const refusedRate = rates && rateLimits(rates, rates.clock)

  // Rates come after the rules against web pages: a request that those refuse does not count against its caller's rate.
  const refusalOf = (c: Context): HttpError | undefined =>
    refusedConnection(c) ?? browser.refusalOf(c) ?? refusedRate?.(c) ?? refusedBody(c, maxBodyBytes)

  const callerOf = (c: Context): string => {
    const peer = peerOf(c)
    const forwarded = c.req.header('x-forwarded-for')
    return forwarded !== undefined && isProxy(peer) ? callerBehindProxies(forwarded, peer, isProxy) : peer
  }

  return async (c, next) => {
    const answered = meter?.started()
    c.set('errorShape', shape)
    c.set('callerAddress', callerOf(c))
    const refusal = refusalOf(c)
    const isUpgrade = c.req.header('upgrade') !== undefined
    const answer = refusal !== undefined ? sendError(c, refusal) : isUpgrade ? upgradeAnswer(c) : undefined
    if (answer === undefined) await next()
    else c.res = answer
    const { headers } = c.res
    browser.addHeaders(c, headers)
    if (capOf(c) !== undefined) headers.set('connection', 'close')
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!headers.has(name)) headers.set(name, value)
    answered?.({ route: routeOf(c), method: c.req.method, status: c.res.status })
  }
}

/** The rules match every path: when their pattern comes last, no route matched. Patterns of parameters are left out. */
const routeOf = (c: Context): string => {
  const path = routePath(c, -1)
  return path === '/*' ? 'unmatched' : path.replaceAll(/\{[^}]*\}/g, '')
}

const capOf = (c: Context) => {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  return incoming && socketsAboveCap.get(incoming.socket)
}

const HEALTH_PATHS = new Set(['/healthz', '/readyz'])

/** On a connection above a cap, only health requests are answered. */
const refusedConnection = (c: Context): HttpError | undefined => {
  const cap = capOf(c)
  return cap === undefined || HEALTH_PATHS.has(c.req.path) ? undefined : TOO_MANY_CONNECTIONS[cap]
}

export interface TakesOptions {
  /** Replaces the limit of the door. */
  readonly maxBytes?: number
}

interface Declared extends TakesOptions {
  readonly type: string
}

/** For `takes`: a body without a content type. */
export const UNTYPED = ''
/** For `takes`: a body with any content type that no other declaration of the route names. */
export const ANY_TYPE = '*/*'

const declarations = new WeakMap<object, Declared>()

/**
 * Declares a type that the body of a route may have, instead of JSON; may be given several times:
 * `app.post('/upload', takes('text/x-cwl'), …)`. The default is JSON alone, because a web page may send text and forms to
 * any server without a preflight request, but not JSON.
 */
export function takes(type: string, options: TakesOptions = {}): MiddlewareHandler {
  const pass: MiddlewareHandler = (_c, next) => next()
  declarations.set(pass, { ...options, type: type.toLowerCase() })
  return pass
}

const JSON_ONLY: readonly Declared[] = [{ type: 'application/json' }]
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

function refusedBody(c: Context, standardMaxBytes: number): HttpError | undefined {
  if (WITHOUT_BODY.has(c.req.method)) return undefined
  const type = c.req.header('content-type')
  const length = Number(c.req.header('content-length') ?? 0)
  const chunked = c.req.header('transfer-encoding') !== undefined
  if (type === undefined && length === 0 && !chunked) return undefined

  const declared = matchedRoutes(c).flatMap(({ handler }) => declarations.get(findTargetHandler(handler)) ?? [])
  const accepted = declared.length > 0 ? declared : JSON_ONLY
  const sent = (type?.split(';', 1)[0] ?? '').trim().toLowerCase()
  const matching = accepted.find((one) => one.type === sent) ?? accepted.find((one) => one.type === ANY_TYPE)
  if (matching === undefined) return wrongType(accepted, sent)
  const maxBytes = matching.maxBytes ?? standardMaxBytes
  if (length > maxBytes) return bodyTooLarge(maxBytes)
  if (chunked) limitChunks(c, maxBytes)
  return undefined
}

const wrongType = (accepted: readonly Declared[], sent: string): HttpError => ({
  kind: 'invalid',
  status: 415,
  message: `The body must be ${accepted.map(({ type }) => typeText(type)).join(' or ')}, not ${typeText(sent)}`,
})

const typeText = (type: string): string => (type === UNTYPED ? 'without a content type' : type)
