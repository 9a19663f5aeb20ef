import { FaultError } from '../base/fault.ts'
import { commandResultFromProto } from '../wire/tasks/command-task-result.ts'
import type { ActionCache } from './action-cache.ts'

/** Holds results of command tasks and nothing else: any other bytes are refused, and are a miss where they are found. */
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
