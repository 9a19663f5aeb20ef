import type { MiddlewareHandler } from 'hono'
import { configuredOrigin } from './browser-rules.ts'

/**
 * Lets pages of the configured origins read answers. Other origins never get a CORS header: without configuration this
 * adds nothing. Credentials stay off: callers send tokens, never cookies.
 */
export function crossOrigin(allowedOrigins: readonly string[]): MiddlewareHandler {
  const origins = new Set(allowedOrigins.map(configuredOrigin))
  return async (c, next) => {
    await next()
    if (origins.size === 0) return
    const { headers } = c.res
    headers.append('vary', 'Origin')
    const origin = c.req.header('origin')
    if (origin === undefined || !origins.has(origin)) return
    headers.set('access-control-allow-origin', origin)
    if (c.req.method !== 'OPTIONS' || c.req.header('access-control-request-method') === undefined) return
    headers.set('access-control-allow-methods', headers.get('allow') ?? '')
    headers.set('access-control-allow-headers', 'authorization, content-type')
    headers.set('access-control-max-age', '600')
  }
}
