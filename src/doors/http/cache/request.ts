import type { Context } from 'hono'
import { type DigestFunction, digestFunctionByHexLength } from '../../../base/digest.ts'
import { isHash } from '../../../base/digest-text.ts'
import { invalid } from '../../../base/fault.ts'
import { type InstanceName, instanceNameProblem } from '../../../model/instance-name.ts'
import type { Instance, Instances } from '../../../services/instances/instances.ts'

/** The blob or result that a path names: `/cas/<hash>`, or with an instance before it `/team/linux/cas/<hash>`. */
export interface CacheName {
  readonly instanceName: InstanceName
  readonly instance: Instance
  readonly fn: DigestFunction
  readonly hash: string
}

/** The path says nothing of the digest function: the length does, and where several have it, the instance. */
export function cacheNameIn(c: Context, instances: Instances): CacheName {
  const instanceName = c.req.param('instance') ?? ''
  const hash = c.req.param('hash') ?? ''
  const problem = instanceNameProblem(instanceName)
  if (problem !== undefined) throw invalid(`the instance name ${quoted(instanceName)} ${problem}`)
  const instance = instances(instanceName)
  const fn = digestFunctionByHexLength(hash.length, instance.unnamedFunction)
  if (fn === undefined || !isHash(fn, hash)) {
    throw invalid(`${quoted(hash)} is not a hash: it must be lower-case hex digits, 64 of them for SHA-256`)
  }
  return { instanceName, instance, fn, hash }
}

const quoted = (text: string): string => JSON.stringify(text.length > 140 ? `${text.slice(0, 140)}…` : text)
