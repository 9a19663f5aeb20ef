import type { ResultCache } from '../../engine/tasks/ports.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import { viewActionResult, withWorker } from '../../wire/hot/action-result.ts'
import { actionOfKey } from '../../wire/tasks/action-key.ts'
import { commandOfKey } from '../../wire/tasks/command-key.ts'

/** For a worker that does not say who it is: a result must not be empty on the wire. */
const UNNAMED_WORKER = 'unknown'

/**
 * What the grid ran is found by those who ask the action cache, and the other way round. Which results count is for the
 * caches to say: those that are given must answer with complete ones only, and take what the grid puts even where
 * callers may not put anything.
 */
export interface ResultCaches {
  /** What clients read and write. */
  readonly actionsOf: (instance: InstanceName) => ActionCache
  /** Results of command tasks, which no client reaches. */
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
    // Throws when a worker sent something else: the engine then goes on without the cache.
    const view = viewActionResult(result, action.fn)
    if (view.exitCode !== 0) return
    await actions.put(instance, action, withWorker(view, UNNAMED_WORKER))
  },
})
