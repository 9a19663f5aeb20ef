import { Hono } from 'hono'
import { DEFAULT_REAPI_LIMITS } from '../../../services/instances/cache-limits.ts'
import { ANY_TYPE, takes, UNTYPED } from '../server/request-rules.ts'
import { getResult, putResult } from './action-results.ts'
import { getBlob } from './blob-get.ts'
import { putBlob } from './blob-put.ts'
import type { CacheTools } from './cache-tools.ts'
import { bodyGatherer } from './gathered-body.ts'
import { MOST_VALUE_BYTES } from './opaque-value.ts'
import { plainError } from './problem.ts'

export type HttpCacheOptions = Omit<CacheTools, 'maxBlobBytes' | 'gather'> & Partial<Pick<CacheTools, 'maxBlobBytes'>>

/**
 * Matches up to the last segment of that name. The pattern includes the slash after the segment, because the router
 * does not check it: it would match the first letters of a hash that begins with `ac`.
 */
const instanceBefore = (segment: string): string => `/:instance{.+(?=/${segment}/)}`

/** A compressed body may be a little larger than its blob; the store checks the exact limit. */
const withSlack = (bytes: number): number => bytes * 1.25 + 1024 * 1024

/**
 * The HTTP cache that Bazel uses with `--remote_cache=http://…`, as routes of the HTTP door: `door.route('/', …)`. A
 * path ends with `cas` or `ac` and a hash; the name of the instance, if any, precedes them.
 *
 * Bazel sends bodies without a content type; ccache, sccache and Gradle send one. The routes accept any. That is safe
 * against web pages: a browser sends a preflight before each PUT to another origin, and the Origin rule rejects both.
 */
export function httpCacheDoor(options: HttpCacheOptions): Hono {
  const tools = { maxBlobBytes: DEFAULT_REAPI_LIMITS.maxBlobBytes, gather: bodyGatherer(options.clock), ...options }
  const app = new Hono()
  app.onError((error, c) => plainError(error, c, tools.log))
  const anyBlob = takes(ANY_TYPE, { maxBytes: withSlack(tools.maxBlobBytes) })
  for (const path of ['/cas/:hash', `${instanceBefore('cas')}/cas/:hash`]) {
    app.get(path, (c) => getBlob(c, tools))
    app.put(path, anyBlob, (c) => putBlob(c, tools))
  }
  for (const path of ['/ac/:hash', `${instanceBefore('ac')}/ac/:hash`]) {
    app.get(path, (c) => getResult(c, tools))
    app.put(path, takes(UNTYPED), takes(ANY_TYPE, { maxBytes: MOST_VALUE_BYTES }), (c) => putResult(c, tools))
  }
  return app
}
