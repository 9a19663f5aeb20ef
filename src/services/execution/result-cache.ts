import type { ResultCache } from '../../engine/tasks/ports.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import { viewActionResult, withWorker } from '../../wire/hot/action-result.ts'
import { actionOfKey } from '../../wire/tasks/action-key.ts'
import { commandOfKey } from '../../wire/tasks/command-key.ts'

/** The worker of a result that names none: REAPI forbids an empty result. */
const UNNAMED_WORKER = 'unknown'

/**
 * The caches that the engine reads and writes, so that clients find its results in the action cache and the engine
 * finds theirs. `get` must return complete results only, and `put` must accept results of the engine even where clients
 * may not write.
 */
export interface ResultCaches {
  /** Results of actions, which clients read and write. */
  readonly actionsOf: (instance: InstanceName) => ActionCache
  /** Results of command tasks, which clients cannot read or write. */
  readonly commandsOf: (instance: InstanceName) => ActionCache
}

export const actionResultsCache = ({ actionsOf, commandsOf }: ResultCaches): ResultCache => ({
  async get(instance, actionKey) {
    const command = commandOfKey(actionKey)
    if (command !== undefined) return await commandsOf(instance).get(instance, command)
    const action = actionOfKey(actionKey)
    return action && (await actionsOf(instance).get(instance, action))
  },
  async put(instance, actionKey, result) {
    const command = commandOfKey(actionKey)
    const action = command ?? actionOfKey(actionKey)
    if (action === undefined) return
    const actions = (command === undefined ? actionsOf : commandsOf)(instance)
    // Throws for an invalid result: the engine then does not cache it.
    const view = viewActionResult(result, action.fn)
    if (view.exitCode !== 0) return
    await actions.put(instance, action, withWorker(view, UNNAMED_WORKER))
  },
})
