import type { Context } from 'hono'
import { FaultError } from '../../base/fault.ts'
import { resultToKeep } from '../reapi/action-results.ts'
import { bodyPieces } from './body-pieces.ts'
import { cacheNameIn } from './cache-name.ts'
import type { CacheTools } from './cache-tools.ts'
import { formOfBody } from './content-codings.ts'
import { ownTurn } from './own-turn.ts'

/** GET and HEAD of /ac/<hash>: only complete results, as everywhere. */
export async function getResult(c: Context, { instances }: CacheTools): Promise<Response> {
  const { instanceName, instance, fn, hash } = cacheNameIn(c, instances)
  await ownTurn(c)
  const result = await instance.actions.get(instanceName, { fn, hash })
  if (result === undefined) throw new FaultError({ kind: 'absent', what: `no result for action ${hash}` })
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(result.length) }
  return c.req.method === 'HEAD' ? c.body(null, 200, headers) : c.body(Uint8Array.from(result), 200, headers)
}

/** PUT of /ac/<hash>: an ActionResult message, kept as it would be from the Remote Execution API. */
export async function putResult(c: Context, { instances, clock }: CacheTools): Promise<Response> {
  const { instanceName, instance, fn, hash } = cacheNameIn(c, instances)
  formOfBody(c, false)
  const pieces: Uint8Array[] = []
  for await (const piece of bodyPieces(c.req.raw, clock)) pieces.push(piece)
  await instance.actions.put(instanceName, { fn, hash }, resultToKeep(Buffer.concat(pieces), fn))
  return c.body(null, 200)
}
