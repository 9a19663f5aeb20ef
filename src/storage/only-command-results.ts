import { FaultError } from '../base/fault.ts'
import { commandResultFromProto } from '../wire/tasks/command-task-result.ts'
import type { ActionCache } from './action-cache.ts'

/** Stores only results of command tasks. `put` refuses other bytes, and `get` reports them as a miss. */
export const onlyCommandResults = (inner: ActionCache): ActionCache => ({
  async get(instance, action) {
    const result = await inner.get(instance, action)
    try {
      if (result !== undefined) commandResultFromProto(result, action.fn)
    } catch (error) {
      if (error instanceof FaultError && error.fault.kind === 'invalid') return undefined
      throw error
    }
    return result
  },
  async put(instance, action, result) {
    commandResultFromProto(result, action.fn)
    await inner.put(instance, action, result)
  },
})
