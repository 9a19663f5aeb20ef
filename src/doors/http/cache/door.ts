import { Hono } from 'hono'
import { DEFAULT_REAPI_LIMITS } from '../../../services/instances/cache-limits.ts'
import { ANY_TYPE, takes, UNTYPED } from '../server/body-rules.ts'
import { getResult, putResult } from './action-results.ts'
import { getBlob } from './blob-get.ts'
import { putBlob } from './blob-put.ts'
import type { CacheTools } from './cache-tools.ts'
import { bodyGatherer } from './gathered-body.ts'
import { MOST_VALUE_BYTES } from './opaque-value.ts'
import { plainError } from './problem.ts'

export type HttpCacheOptions = Omit<CacheTools, 'maxBlobBytes' | 'gather'> & Partial<Pick<CacheTools, 'maxBlobBytes'>>

/**
 * Up to the last segment of that name. The slash behind it is looked for here, since the router itself does not: it would
 * take the first letters of a hash that begins with `ac` for that segment.
 */
const instanceBefore = (segment: string): string => `/:instance{.+(?=/${segment}/)}`

/** Packed, a blob may be a little larger than it is; how much larger is the store's to judge. */
const withSlack = (bytes: number): number => bytes * 1.25 + 1024 * 1024

/**
 * The cache as Bazel's `--remote_cache=http://…` speaks it, to be hung on the HTTP door: `door.route('/', …)`. A last
 * segment that is a hash, `cas` or `ac` before it, and before that the name of the instance or nothing.
 *
 * Bazel sends bodies without a content type; ccache, sccache and Gradle send one. The routes accept any. A web page gains
 * nothing by that: a browser sends a preflight before each PUT to another origin, and the Origin rule rejects both.
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
