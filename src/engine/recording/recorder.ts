/** Writes the facts of changed tasks to the journal. All changes of one event go in one call, which costs one promise. */
import type { Clock } from '../../base/clock.ts'
import type { Fencing } from '../../model/fencing.ts'
import type { FinalState } from '../../model/task-state.ts'
import type { Journal } from '../../storage/journal/journal.ts'
import { forgetGiven, type LiveTask, type RecordHook } from '../tasks/live-task.ts'
import { isClosed, isUnsettled } from '../tasks/record-state.ts'
import type { Timers } from '../tasks/timers.ts'
import type { PendingWrites } from './pending-writes.ts'
import { addFacts, hasOnlyStarted, RecordCall } from './task-facts.ts'

/**
 * No caller waits for the fact that a task was started, and a task that ends soon has the start time in its end. So the
 * fact is written with the next record that a caller waits for, or after this time. A lease does not wait: if it were
 * lost in a crash, its task would run again.
 */
const START_WAITS_MS = 50

/** The end of an attempt that is not the task's current one. */
export interface LateEnd {
  readonly task: string
  readonly fencing: Fencing
  readonly state: FinalState
  readonly reason: string
}

export interface Recorder {
  /** Whether marked tasks wait for a flush. */
  readonly hasMarked: boolean
  /** Marks a changed task: the next flush writes the difference. */
  mark(task: LiveTask): void
  /** Calls the hook when the facts of the next flush are durable, or when they could not be written. */
  onRecorded(hook: RecordHook): void
  flush(): void
  /** Writes the starts that wait. They have a call of their own: a wrong one must not fail a record that a caller awaits. */
  flushStarted(): Promise<void> | undefined
  /** Writes a late end beside the task; `task` is the live one, if there is one. */
  recordLate(late: LateEnd, task: LiveTask | undefined): void
}

export interface RecorderOptions {
  readonly journal: Pick<Journal, 'record'>
  readonly clock: Pick<Clock, 'now'>
  readonly timers: Timers
  readonly writes: PendingWrites
  readonly isClosing: () => boolean
  /** The time of the event under way. */
  readonly now: () => number
  readonly succeeded: (call: RecordCall, late: readonly string[]) => void
  readonly failed: (call: RecordCall, error: unknown) => void
}

const NO_HOOKS: readonly RecordHook[] = []

export function recorder(options: RecorderOptions): Recorder {
  const { journal, clock, writes, isClosing, now, succeeded, failed } = options
  let marked: LiveTask[] = []
  let hooks: RecordHook[] = []
  const send = (call: RecordCall): Promise<void> => {
    writes.begin()
    return journal.record(call.facts, call.durability).then(
      (late) => succeeded(call, late),
      (error: unknown) => failed(call, error),
    )
  }
  const starts = deferredStarts(send, options)
  /** Takes what is marked; a task of which only the start is new waits for a later call. */
  const nextCall = (): RecordCall => {
    const tasks = marked
    const call = new RecordCall([], hooks.length === 0 ? NO_HOOKS : hooks)
    marked = []
    if (hooks.length > 0) hooks = []
    for (const task of tasks) {
      task.isDirty = false
      if (isClosed(task) || isUnsettled(task)) continue
      if (!isClosing() && hasOnlyStarted(task)) starts.add(task)
      else {
        call.tasks.push(task)
        addFacts(call, task, now())
      }
    }
    return call
  }
  return {
    get hasMarked() {
      return marked.length > 0
    },
    mark(task) {
      if (task.isDirty) return
      task.isDirty = true
      marked.push(task)
    },
    onRecorded: (hook) => void hooks.push(hook),
    flush() {
      if (marked.length === 0 && hooks.length === 0) return
      const call = nextCall()
      if (call.facts.length === 0) for (const hook of call.hooks) hook.resolve()
      else {
        void send(call)
        void starts.flush()
      }
    },
    flushStarted: starts.flush,
    recordLate(late, task) {
      if (task !== undefined && (task.ending !== undefined || task.record !== 'durable')) return
      void send(lateCall({ ...late, at: clock.now() }, task, now()))
    },
  }
}

/** Holds tasks of which only the start is to be written, until the next flush or for START_WAITS_MS. */
function deferredStarts(
  send: (call: RecordCall) => Promise<void>,
  { timers, now }: Pick<RecorderOptions, 'timers' | 'now'>,
) {
  let started: LiveTask[] = []
  const flush = (): Promise<void> | undefined => {
    if (started.length === 0) return undefined
    const tasks = started
    started = []
    const call = new RecordCall([], NO_HOOKS)
    for (const task of tasks) {
      if (isClosed(task) || isUnsettled(task) || task.given.end) continue
      call.tasks.push(task)
      addFacts(call, task, now())
    }
    return call.facts.length > 0 ? send(call) : undefined
  }
  return {
    add(task: LiveTask): void {
      started.push(task)
      if (!timers.has('record')) timers.set('record', START_WAITS_MS, () => void flush())
    },
    flush,
  }
}

/**
 * The journal tells a late end from the true one by the lease on record. So the lease goes in the same call: if an earlier
 * call failed, the late end must not pass for the true one.
 */
function lateCall(late: LateEnd & { readonly at: number }, task: LiveTask | undefined, now: number): RecordCall {
  const call = new RecordCall(task === undefined ? [] : [task], NO_HOOKS)
  if (task !== undefined) {
    forgetGiven(task)
    addFacts(call, task, now)
  }
  call.facts.push({ kind: 'finished', ...late })
  return call
}
