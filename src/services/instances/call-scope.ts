import type { Caller } from '../../model/caller.ts'
import type { InstanceName } from '../../model/instance-name.ts'

/** The caller of a service operation, and the instance that it acts in. Every door makes one for every request. */
export interface CallScope {
  readonly caller: Caller
  readonly instance: InstanceName
}
