import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { GridEvent } from '../../scheduler/model/events.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Journal } from '../../storage/journal/journal.ts'
import type { JournalRepair } from '../recording/journal-repair.ts'
import type { PendingWrites } from '../recording/pending-writes.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { GridMeter } from '../tasks/grid-meter.ts'
import type { GrantedLease } from '../tasks/live-task.ts'
import type { BlobRoots, ResultCache } from '../tasks/ports.ts'
import type { TaskRegistry } from '../tasks/task-registry.ts'
import type { Timers } from '../tasks/timers.ts'
import type { Waiters } from '../watches/waiters.ts'
import type { Watches } from '../watches/watches.ts'
import type { FormerLeases } from '../workers/former-leases.ts'
import type { LostWorkers } from '../workers/lost-workers.ts'
import type { WorkerLinks } from '../workers/worker-links.ts'
import type { EngineLimits } from './engine-options.ts'

/** A call to a door that is made once the facts of the event are on their way to the journal. */
export type Outward = GrantedLease | { readonly call: () => void }

/** What the engine is made of: its ports and settings, and the objects that hold its state. */
export interface EngineState {
  readonly journal: Journal
  readonly clock: Clock
  readonly newId: () => string
  readonly results: ResultCache | undefined
  readonly roots: BlobRoots | undefined
  readonly meter: GridMeter
  readonly log: Log
  readonly limits: EngineLimits
  readonly retentionMs: number
  readonly epoch: number
  readonly scheduler: Scheduler
  /** Until then, workers of the time before a restart may still reconnect; on the monotonic clock. */
  readonly reconnectUntil: number

  readonly live: TaskRegistry
  readonly recorder: Recorder
  readonly writes: PendingWrites
  readonly repair: JournalRepair
  readonly watches: Watches
  readonly waiters: Waiters
  readonly links: WorkerLinks
  readonly lost: LostWorkers
  readonly formerLeases: FormerLeases
  readonly timers: Timers
  /** The property names that the journal has, or is being given. */
  readonly namesOffered: Set<string>
  /** The tasks whose outputs are pinned and the times of their ends, in that order. */
  keptOutputs: Map<string, number>

  /** Passes an event to the scheduler and applies its effects; called within another event, it does so after that one. */
  dispatch(event?: GridEvent): void
  readonly events: GridEvent[]
  outward: Outward[]
  isBusy: boolean
  isClosing: boolean
  /** The time of the event under way: milliseconds since 1970, and on the monotonic clock. */
  now: number
  instant: number
  tickAt: number
}
