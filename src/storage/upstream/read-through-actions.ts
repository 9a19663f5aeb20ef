import type { ActionCache } from '../action-cache.ts'
import type { GuardedUpstream, UpstreamEvents } from './outage.ts'

export interface ReadThroughActionsOptions {
  readonly upstream: ActionCache
  readonly asking: GuardedUpstream
  readonly events: UpstreamEvents
  /** Whether `put` also writes the result to the upstream. */
  readonly writeThrough: boolean
}

/** Answers from the local cache. On a miss, reads the result from the upstream and stores it locally. */
export const readThroughActions =
  ({ upstream, asking, events, writeThrough }: ReadThroughActionsOptions) =>
  (local: ActionCache): ActionCache => ({
    async get(instance, action) {
      const held = await local.get(instance, action)
      // The upstream needs the size of the action, because REAPI names an action by its hash and size.
      if (held !== undefined || action.size === undefined) return held
      const came = await asking.ask('read a result', () => upstream.get(instance, action), undefined)
      if (came !== undefined) await local.put(instance, action, came).catch(events.notKept)
      return came
    },
    async put(instance, action, result) {
      // The upstream is written after the local cache, so that the blobs of the result are there when it checks them.
      await local.put(instance, action, result)
      if (writeThrough && action.size !== undefined)
        await asking.attempt('store a result', () => upstream.put(instance, action, result))
    },
  })
