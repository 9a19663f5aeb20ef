import type { Clock } from '../base/clock.ts'
import type { FaultError } from '../base/fault.ts'
import type { Log } from '../base/log.ts'
import type { Fencing } from '../model/fencing.ts'
import type { GridEvent } from '../scheduler/model/events.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Journal } from '../storage/journal/journal.ts'
import type { EngineLimits } from './engine-options.ts'
import type { FormerLeases } from './former-leases.ts'
import type { GridMeter } from './grid-meter.ts'
import type { LiveTask, Operation } from './live-task.ts'
import type { LostWorkers } from './lost-workers.ts'
import type { NameTable } from './name-table.ts'
import type { BlobRoots, ResultCache } from './ports.ts'
import type { Unwatched } from './unwatched.ts'
import type { Watch } from './watching.ts'
import type { WorkerLink } from './worker-link.ts'

/** What leaves for a door once the facts of an event are on their way to the journal. */
export type Outward = GrantedLease | { readonly call: () => void }

export interface GrantedLease {
  readonly task: LiveTask
  readonly worker: string
  readonly fencing: Fencing
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly prefetch: boolean
}

/** Told when the facts of the event under way are durable, or that they are not. */
export interface RecordHook {
  resolve(): void
  reject(error: Error): void
}

/** The journal does not take facts at present. */
export interface Trouble {
  readonly error: FaultError
  readonly delayMs: number
  /** Until then nobody tries. */
  readonly until: number
}

/** Everything that the engine knows. The files around it are what can be done with it. */
export interface Shell {
  readonly journal: Journal
  readonly clock: Clock
  readonly newId: () => string
  readonly results: ResultCache | undefined
  readonly roots: BlobRoots | undefined
  readonly meter: GridMeter
  readonly log: Log
  readonly limits: EngineLimits
  readonly noWaiterGraceMs: number
  readonly retentionMs: number
  readonly epoch: number
  readonly scheduler: Scheduler
  /** Until then workers of before a restart may still be on their way; on the monotonic clock. */
  readonly reconnectUntil: number

  /** Hands an event to the scheduler and carries out what it decides; within another one, after that. */
  dispatch(event?: GridEvent): void
  readonly events: GridEvent[]
  isBusy: boolean
  isClosing: boolean
  /** When the event under way came: milliseconds since 1970, and on the monotonic clock. */
  now: number
  instant: number

  readonly tasks: NameTable<LiveTask>
  /** Those that are over are here until the loop turn ends: who was just told of one may want to watch it. */
  readonly operations: NameTable<Operation>
  over: LiveTask[]
  readonly links: Map<string, WorkerLink>
  readonly formerLeases: FormerLeases
  readonly lost: LostWorkers
  tasksMade: number

  /** Whose facts are to be recorded when the event is over. */
  dirty: LiveTask[]
  /** Of these it is only to be recorded that they were started, and that may wait. */
  started: LiveTask[]
  hooks: RecordHook[]
  outward: Outward[]
  /** Records under way, and who waits for there to be none. */
  recording: number
  quiet: (() => void)[]
  readonly unsettled: Set<LiveTask>
  trouble: Trouble | undefined

  dueWatches: Watch[]
  watches: number
  /** Operations that need a watcher and have none, the longest first. */
  readonly unwatched: Unwatched
  /** Tasks whose outputs are held, and when they ended, in that order. */
  keptOutputs: Map<string, number>
  /** Property names that the journal has, or is being given. */
  readonly namesOffered: Set<string>
  readonly timers: Map<TimerName, () => void>
  tickAt: number
}

export type TimerName = 'tick' | 'no-waiter' | 'retention' | 'repair' | 'record'

type Recording = 'dirty' | 'started' | 'hooks' | 'outward' | 'recording' | 'quiet' | 'unsettled' | 'trouble'

export const nothingToRecord = (): Pick<Shell, Recording> => ({
  dirty: [],
  started: [],
  hooks: [],
  outward: [],
  recording: 0,
  quiet: [],
  unsettled: new Set(),
  trouble: undefined,
})

/** No epoch comes twice, so no id does; they grow, and are short: a million of them lie in memory. */
export const newTaskId = (shell: Shell): string => `${shell.epoch.toString(36)}-${(++shell.tasksMade).toString(36)}`

export function markDirty(shell: Shell, task: LiveTask): void {
  if (task.isDirty) return
  task.isDirty = true
  shell.dirty.push(task)
}

/** One timer a name; the last one set counts. */
export function setTimer(shell: Shell, name: TimerName, { ms, fire }: { ms: number; fire: () => void }): void {
  shell.timers.get(name)?.()
  shell.timers.set(
    name,
    shell.clock.after(Math.max(0, Math.ceil(ms)), () => {
      shell.timers.delete(name)
      fire()
    }),
  )
}

/** A door that throws must not take the grid with it. */
export function guarded(shell: Shell, call: () => void): boolean {
  try {
    call()
    return true
  } catch (error) {
    shell.log.error({ error }, 'a door failed in a call from the engine')
    return false
  }
}
