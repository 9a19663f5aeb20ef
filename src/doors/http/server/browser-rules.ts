/**
 * A server on loopback needs no token, but every web page that its user visits runs on loopback too. Two rules refuse
 * requests of such pages, on every route: the Host must be one of this server, or a page whose name was rebound to
 * 127.0.0.1 would pass for same-origin; and the Origin, which pages cannot forge, must be allowed. (The third rule is
 * in request-rules.ts: bodies are JSON.)
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import type { Context } from 'hono'
import type { Log } from '../../../base/log.ts'
import type { HttpError } from './http-error.ts'

export interface BrowserRules {
  /** Served in addition to loopback names; a host with a port is served on that port only. */
  readonly allowedHosts: readonly string[]
  /** Pages of other origins that may call, written as `https://ci.example.com`. */
  readonly allowedOrigins: readonly string[]
  readonly log: Log
}

export function browserRules({ allowedHosts, allowedOrigins, log }: BrowserRules) {
  const hosts = allowedHosts.map(configuredAuthority)
  const origins = new Set(allowedOrigins.map(configuredOrigin))
  return {
    refusalOf(c: Context): HttpError | undefined {
      const refused = refusedHost(c, hosts) ?? refusedOrigin(c, origins)
      if (refused !== undefined)
        log.info({ method: c.req.method, path: c.req.path, why: refused.message }, 'http request refused')
      return refused
    },
    /**
     * CORS: pages of the allowed origins may read responses. Credentials stay off: callers send tokens, never cookies.
     */
    addHeaders(c: Context, headers: Headers): void {
      if (origins.size === 0) return
      headers.append('vary', 'Origin')
      const origin = c.req.header('origin')
      if (origin === undefined || !origins.has(origin)) return
      headers.set('access-control-allow-origin', origin)
      if (c.req.method !== 'OPTIONS' || c.req.header('access-control-request-method') === undefined) return
      headers.set('access-control-allow-methods', headers.get('allow') ?? '')
      headers.set('access-control-allow-headers', 'authorization, content-type')
      headers.set('access-control-max-age', '600')
    },
  }
}

/** The `host[:port]` of a Host header or of a URL. */
export interface Authority {
  /** Lower case; an IPv6 address has no brackets. */
  readonly name: string
  readonly port: number | undefined
}

function refusedHost(c: Context, hosts: readonly Authority[]): HttpError | undefined {
  const header = c.req.header('host')
  if (header === undefined || header === '') return { kind: 'invalid', message: 'The request has no Host header' }
  // An absolute target overrules the Host header (RFC 9112, 3.2.2), so both must be served.
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

const AUTHORITY = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i

/** Strict: user info, zones, lists and escapes can make a foreign name look like a name of this server. */
export function parseAuthority(text: string): Authority | undefined {
  const parts = AUTHORITY.exec(text)
  if (parts === null) return undefined
  const [, ipv6, name, digits] = parts
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && port > 65535) return undefined
  if (ipv6 !== undefined && !isIPv6(ipv6)) return undefined
  return { name: (ipv6 ?? name ?? '').toLowerCase(), port }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whole addresses only: `127.1` and `localhost.` reach this machine as well, but no browser sends them. */
export function isLoopback(name: string): boolean {
  if (name === 'localhost') return true
  if (isIPv4(name)) return loopback.check(name, 'ipv4')
  return isIPv6(name) && loopback.check(name, 'ipv6')
}

/** Reads a configured host, which may be a bare IPv6 address; throws on a text that no Host header can match. */
export function configuredAuthority(text: string): Authority {
  const authority = parseAuthority(isIPv6(text) ? `[${text}]` : text)
  if (authority === undefined) throw new Error(`http.allowed_hosts: "${text}" is not a host name with an optional port`)
  return authority
}

/** Throws on `null`, paths and typos: they never match the Origin that a browser sends. */
export function configuredOrigin(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null'
  if (origin === 'null' || origin !== text.toLowerCase().replace(/\/$/, '')) {
    throw new Error(`http.allowed_origins: "${text}" is not an origin such as https://ci.example.com`)
  }
  return origin
}
