import { Hono } from 'hono'
import { takes, UNTYPED } from '../http/body-rules.ts'
import { DEFAULT_REAPI_LIMITS } from '../reapi/limits.ts'
import { getResult, putResult } from './action-results.ts'
import { getBlob } from './blob-get.ts'
import { putBlob } from './blob-put.ts'
import type { CacheTools } from './cache-tools.ts'
import { tellPlainly } from './plain-errors.ts'

export type HttpCacheOptions = Omit<CacheTools, 'maxBlobBytes'> & Partial<Pick<CacheTools, 'maxBlobBytes'>>

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
 * Bazel sends bodies without a content type, so that is what these routes take. It is no way in for web pages: theirs
 * would have to come by PUT, for which browsers ask first, and they are refused by Origin in any case.
 */
export function httpCacheDoor(options: HttpCacheOptions): Hono {
  const tools = { maxBlobBytes: DEFAULT_REAPI_LIMITS.maxBlobBytes, ...options }
  const app = new Hono()
  app.onError((error, c) => tellPlainly(error, c, tools.log))
  const untypedBlob = takes(UNTYPED, { maxBytes: withSlack(tools.maxBlobBytes) })
  for (const path of ['/cas/:hash', `${instanceBefore('cas')}/cas/:hash`]) {
    app.get(path, (c) => getBlob(c, tools))
    app.put(path, untypedBlob, (c) => putBlob(c, tools))
  }
  for (const path of ['/ac/:hash', `${instanceBefore('ac')}/ac/:hash`]) {
    app.get(path, (c) => getResult(c, tools))
    app.put(path, takes(UNTYPED), (c) => putResult(c, tools))
  }
  return app
}
