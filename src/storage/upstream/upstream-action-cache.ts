import type { Digest } from '../../base/digest.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { getActionResultRequest, updateActionResultRequest } from '../../wire/calls/action-cache.ts'
import { viewActionResult } from '../../wire/hot/action-result.ts'
import type { ActionCache, ActionName } from '../action-cache.ts'
import { hasSoundOutputs } from '../verification/result-check.ts'
import type { Upstream } from './upstream.ts'
import { understood } from './upstream-fault.ts'

export interface UpstreamActionCacheOptions {
  readonly upstream: Upstream
  /** Maps one of our instance names to the instance name at the upstream. */
  readonly instanceThere: (instance: string) => string
}

const SERVICE = '/build.bazel.remote.execution.v2.ActionCache'

/**
 * Action results at another server of the Remote Execution API. That server may add metadata to a result, stores only
 * valid results, and returns only results whose blobs it has. A result cannot be verified against its key, so readers
 * of an upstream must trust it.
 */
export const upstreamActionCache = ({ upstream, instanceThere }: UpstreamActionCacheOptions): ActionCache => ({
  async get(instance, action) {
    if (!isWholeName(action)) return undefined
    try {
      const request = getActionResultRequest(instanceThere(instance), action)
      const result = await upstream.ask(`${SERVICE}/GetActionResult`, request, (answer) => Uint8Array.from(answer))
      understood(() => viewActionResult(result, action.fn))
      return (await hasSoundOutputs(result, action.fn)) ? result : undefined
    } catch (error) {
      if (error instanceof FaultError && error.fault.kind === 'absent') return undefined
      throw error
    }
  },
  async put(instance, action, result) {
    if (!isWholeName(action)) throw invalid('an upstream takes no result of an action of unknown size', 'unsupported')
    const request = updateActionResultRequest(instanceThere(instance), action, result)
    await upstream.ask(`${SERVICE}/UpdateActionResult`, request, () => {})
  },
})

/** REAPI names an action by its hash and size, so an action of unknown size has no name. */
const isWholeName = (action: ActionName): action is Digest => action.size !== undefined
