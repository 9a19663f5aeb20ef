import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { InstanceName } from '../model/instance-name.ts'
import type { GridEvent } from '../scheduler/model/events.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Journal } from '../storage/journal/journal.ts'
import type { EngineLimits } from './engine-options.ts'
import type { GridMeter } from './tasks/grid-meter.ts'
import type { JournalTrouble, RecordHook } from './tasks/live-parts.ts'
import type { GrantedLease, LiveTask, Watch } from './tasks/live-task.ts'
import type { BlobRoots, ResultCache } from './tasks/ports.ts'
import type { TaskRegistry } from './tasks/task-registry.ts'
import type { FormerLeases } from './workers/former-leases.ts'
import type { LostWorkers } from './workers/lost-workers.ts'
import type { WorkerLinks } from './workers/worker-links.ts'

/** A call to a worker's session, which is made after the facts of the event were passed to the journal. */
export type Outward = GrantedLease | { readonly call: () => void }

/** The ports, the settings and the state of the engine. Each stage is a file of functions that take it. */
export interface EngineState {
  readonly journal: Journal
  readonly clock: Clock
  readonly newId: () => string
  readonly unnamedInstance: InstanceName
  readonly results: ResultCache | undefined
  readonly roots: BlobRoots | undefined
  readonly meter: GridMeter
  readonly log: Log
  readonly limits: EngineLimits
  readonly retentionMs: number
  readonly noWaiterGraceMs: number
  readonly epoch: number
  readonly scheduler: Scheduler
  /** The time until which workers from before a restart may still reconnect; on the monotonic clock. */
  readonly reconnectUntil: number

  readonly live: TaskRegistry
  readonly links: WorkerLinks
  readonly lost: LostWorkers
  readonly formerLeases: FormerLeases
  readonly timers: Timers
  readonly writes: PendingWrites
  /** The property names that the journal has, or that are being written to it. */
  readonly namesOffered: Set<string>
  /** The tasks whose outputs are pinned, with the times of their ends, in the order of these times. */
  keptOutputs: Map<string, number>

  /** Called when the facts of the next flush are durable, or could not be written. */
  recordHooks: RecordHook[]
  /** Tasks of which only the start must be written. */
  startedTasks: LiveTask[]
  /** Set while the journal fails. */
  journalTrouble: JournalTrouble | undefined
  /** Tasks of failed writes, whose facts must be written again. */
  readonly unsettled: Set<LiveTask>

  watchCount: number
  /** Watches that are notified at the end of the loop turn. */
  dueWatches: Watch[]

  /**
   * Passes an event to the scheduler and applies its effects; called within another event, it does so after that one.
   */
  dispatch(event?: GridEvent): void
  readonly events: GridEvent[]
  outward: Outward[]
  isBusy: boolean
  /** New tasks are refused, except for steps of workflow runs. */
  isDraining: boolean
  isClosing: boolean
  /** The time of the current event: milliseconds since 1970, and on the monotonic clock. */
  now: number
  instant: number
  tickAt: number
}

/** Counts writes in progress, so that closing can wait for them. */
export interface PendingWrites {
  begin(): void
  done(): void
  /** Resolves when no write is in progress. */
  idle(): Promise<void>
}

export function pendingWrites(): PendingWrites {
  let count = 0
  let waiting: (() => void)[] = []
  return {
    begin() {
      count++
    },
    done() {
      count--
      if (count > 0 || waiting.length === 0) return
      const resolved = waiting
      waiting = []
      for (const resolve of resolved) resolve()
    },
    async idle() {
      while (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}

export type TimerName = 'tick' | 'no-waiter' | 'retention' | 'repair' | 'record'

/** One timer per name; setting it again replaces it. */
export interface Timers {
  set(name: TimerName, ms: number, fire: () => void): void
  has(name: TimerName): boolean
  /** Cancels all timers. */
  close(): void
}

export function namedTimers(clock: Pick<Clock, 'after'>): Timers {
  const running = new Map<TimerName, () => void>()
  return {
    set(name, ms, fire) {
      running.get(name)?.()
      running.set(
        name,
        clock.after(Math.max(0, Math.ceil(ms)), () => {
          running.delete(name)
          fire()
        }),
      )
    },
    has: (name) => running.has(name),
    close() {
      for (const cancel of running.values()) cancel()
      running.clear()
    },
  }
}
