import { FaultError } from '../base/fault.ts'
import type { ActionCache } from './action-cache.ts'

/** Refuses to store results, for instances with a read-only action cache. */
export const readOnlyActions = (inner: ActionCache): ActionCache => ({
  ...inner,
  async put(instance) {
    const where = instance === '' ? 'the unnamed instance' : `instance "${instance}"`
    throw new FaultError({
      kind: 'denied',
      what: `results of actions in ${where} are read-only: callers may not put any`,
    })
  },
})
