import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { bodyGatherer } from './gathered-body.ts'

/** Shared by the routes of the HTTP cache. */
export interface CacheTools {
  readonly instances: Instances
  readonly clock: Clock
  readonly log: Log
  readonly maxBlobBytes: number
  readonly gather: ReturnType<typeof bodyGatherer>
}
