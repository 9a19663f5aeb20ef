import type { Context, MiddlewareHandler } from 'hono'
import type { Log } from '../../../base/log.ts'
import { type Authority, configuredAuthority, isLoopback, parseAuthority } from './authority.ts'
import { type HttpError, sendError } from './http-error.ts'

/**
 * A server on loopback needs no token, but every web page that its user visits runs on loopback too. Two rules keep
 * such pages out, on every route: the Host must be ours, or a page whose name was rebound to 127.0.0.1 would pass for
 * same-origin; and the Origin, which pages cannot forge, must be ours as well. (The third is in body-rules.ts.)
 */
export interface BrowserRules {
  /** Served beside loopback names; one with a port holds for that port only. */
  readonly allowedHosts: readonly string[]
  /** Pages from elsewhere that may call, written as `https://ci.example.com`. */
  readonly allowedOrigins: readonly string[]
}

export function browserRules({ allowedHosts, allowedOrigins }: BrowserRules, log: Log): MiddlewareHandler {
  const hosts = allowedHosts.map(configuredAuthority)
  const origins = new Set(allowedOrigins.map(configuredOrigin))
  return async (c, next) => {
    const refused = refusedHost(c, hosts) ?? refusedOrigin(c, origins)
    if (refused === undefined) return next()
    log.info({ method: c.req.method, path: c.req.path, why: refused.message }, 'http request refused')
    return sendError(c, refused)
  }
}

function refusedHost(c: Context, hosts: readonly Authority[]): HttpError | undefined {
  const header = c.req.header('host')
  if (header === undefined || header === '') return { kind: 'invalid', message: 'The request has no Host header' }
  // An absolute target overrules the Host header (RFC 9112, 3.2.2), so both must be ours.
  for (const text of [header, new URL(c.req.url).host]) {
    const authority = parseAuthority(text)
    if (authority === undefined) return { kind: 'invalid', message: 'The Host header is not one host name' }
    if (!isServed(authority, hosts)) return foreignHost(text)
  }
  return undefined
}

const isServed = ({ name, port }: Authority, hosts: readonly Authority[]): boolean =>
  isLoopback(name) || hosts.some((host) => host.name === name && (host.port === undefined || host.port === port))

const foreignHost = (host: string): HttpError => ({
  kind: 'denied',
  message: `The host "${host.slice(0, 100)}" is not served here; to serve it, add it to http.allowed_hosts`,
})

function refusedOrigin(c: Context, origins: ReadonlySet<string>): HttpError | undefined {
  const origin = c.req.header('origin')
  if (origin === undefined || origin === new URL(c.req.url).origin || origins.has(origin)) return undefined
  return {
    kind: 'denied',
    message: `Pages of "${origin.slice(0, 100)}" may not call this server; to let them, add it to http.allowed_origins`,
  }
}

/** `null`, paths and typos never match what a browser sends: better to hear of them at the start. */
export function configuredOrigin(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null'
  if (origin === 'null' || origin !== text.toLowerCase().replace(/\/$/, '')) {
    throw new Error(`http.allowed_origins: "${text}" is not an origin such as https://ci.example.com`)
  }
  return origin
}
