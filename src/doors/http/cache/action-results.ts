import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { FaultError } from '../../../base/fault.ts'
import { resultToKeep } from '../../../services/instances/result-to-keep.ts'
import type { CacheTools } from './cache-tools.ts'
import { isOpaqueValue, putValue, sendValue } from './opaque-value.ts'
import { type CacheName, cacheNameIn, formOfBody, ownTurn } from './request.ts'

const MOST_RESULT_BYTES = 8 * 1024 * 1024

/** GET and HEAD of /ac/<hash>: a result if all its outputs exist, otherwise an opaque value. */
export async function getResult(c: Context, tools: CacheTools): Promise<Response> {
  const name = cacheNameIn(c, tools.instances)
  const { instanceName, instance, fn, hash } = name
  await ownTurn(c)
  const result = await instance.actions.get(instanceName, { fn, hash })
  if (result === undefined) {
    const value = await sendValue(c, name, tools)
    if (value !== undefined) return value
    throw new FaultError({ kind: 'absent', what: `no result for action ${hash}` })
  }
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(result.length) }
  return c.req.method === 'HEAD' ? c.body(null, 200, headers) : c.body(Uint8Array.from(result), 200, headers)
}

/** PUT of /ac/<hash>: an ActionResult message, stored as UpdateActionResult stores it, or an opaque value. */
export function putResult(c: Context, { instances, gather }: CacheTools): Promise<Response> {
  const name = cacheNameIn(c, instances)
  formOfBody(c, false)
  return gather(c, name.instance.unnamedFunction, async (body) => {
    if (isOpaqueValue(c, body.bytes)) await putValue(name, body)
    else await putMessage(name, body.bytes)
    return c.body(null, 200)
  })
}

async function putMessage({ instanceName, instance, fn, hash }: CacheName, bytes: Uint8Array): Promise<void> {
  if (bytes.length > MOST_RESULT_BYTES) {
    throw new HTTPException(413, { message: `An ActionResult is larger than ${MOST_RESULT_BYTES} bytes` })
  }
  const result = await resultToKeep(bytes, { fn, blobs: instance.blobs })
  await instance.actions.put(instanceName, { fn, hash }, result)
}
