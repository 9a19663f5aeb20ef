import type { Caller } from '../../model/caller.ts'
import type { InstanceName } from '../../model/instance-name.ts'

/** The caller of a service operation, and its instance. Every door creates one for each request. */
export interface CallScope {
  readonly caller: Caller
  readonly instance: InstanceName
}
