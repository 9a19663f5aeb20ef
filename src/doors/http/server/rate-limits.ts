import { createHash } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { Clock } from '../../../base/clock.ts'
import { BY_SOCKET_FILE, callerAddressOf, networkOf } from './caller-address.ts'
import { type HttpError, sendError } from './http-error.ts'
import { type RequestRate, TokenBuckets } from './token-bucket.ts'

/** How often one may come; undefined is as often as they like. */
export interface RateLimits {
  /** Does not apply to callers over a socket file: they have no address. */
  readonly perAddress?: RequestRate | undefined
  /** Applies to a key, from any address, in addition to the limit per address: a key is easily made up. */
  readonly perKey?: RequestRate | undefined
}

export function rateLimits({ perAddress, perKey }: RateLimits, clock: Clock): MiddlewareHandler {
  const addresses = perAddress && new TokenBuckets(perAddress, clock)
  const keys = perKey && new TokenBuckets(perKey, clock)
  return (c, next) => {
    if (isFree(c.req.path)) return next()
    const address = callerAddressOf(c)
    const key = keyOf(c)
    const waitMs = Math.max(
      address === BY_SOCKET_FILE ? 0 : (addresses?.take(networkOf(address)) ?? 0),
      key === undefined ? 0 : (keys?.take(key) ?? 0),
    )
    return waitMs === 0 ? next() : Promise.resolve(sendError(c, tooMany(waitMs)))
  }
}

/**
 * Probes must get through when nothing else does, a build asks a cache for more than any person would, and workers, of
 * which there may be many behind one address, speak as often as there are tasks.
 */
const isFree = (path: string): boolean =>
  PROBES.has(path) ||
  /\/(?:cas|ac)\/[0-9a-f]{32,128}$/.test(path) ||
  /^\/api\/v1\/workers\/[^/]+\/(?:work|heartbeat|orders|tasks\/[^/]+\/(?:status|complete))$/.test(path)
const PROBES = new Set(['/healthz', '/readyz', '/metrics'])

/** The key that a request carries, hashed: it may be a secret and is kept for a while. */
function keyOf(c: Context): string | undefined {
  const shown = c.req.header('authorization') ?? c.req.header('x-api-key') ?? c.req.header('x-auth-token')
  return shown && createHash('sha256').update(shown).digest('base64')
}

const tooMany = (waitMs: number): HttpError => ({
  kind: 'exhausted',
  message: 'Too many requests from here; slow down',
  headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
})
