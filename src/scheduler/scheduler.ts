import type { TaskState } from '../model/task-state.ts'
import { joinTask, leaveTask, requestCancel } from './cancel-task.ts'
import { explainTask } from './explain-task.ts'
import { type Figures, readFigures } from './figures.ts'
import { type GridState, makeGridState } from './grid.ts'
import { clearRefusals } from './leases/unconfirmed-ends.ts'
import type { Effect } from './model/effects.ts'
import type { GridEvent, Instant } from './model/events.ts'
import { DEFAULT_OPTIONS, type SchedulerOptions } from './model/options.ts'
import { settleGrid } from './placement/settle-grid.ts'
import { registerWorker } from './register-worker.ts'
import { restoreTask } from './restore-task.ts'
import { submitTask } from './submit-task.ts'
import { tick } from './tick.ts'
import { dismissWorker, drainWorker, recordHeartbeat, resumeWorker } from './worker-events.ts'
import { reportFinished, reportReturned, reportStarted } from './worker-reports.ts'
import type { Worker } from './workers/records.ts'
import { freeWorker, lostAt, watchWorker } from './workers/worker.ts'

/**
 * The core of the grid: takes events and returns effects. It never awaits, reads no clock and uses only the injected
 * random source, so the same events always produce the same effects.
 *
 * The layers, each of which imports only the ones before it: `model/` (events, effects, options, state tables),
 * `shares/` (usage of instances and invocations), `workers/`, `queue/`, `leases/`, `placement/`. The files beside this
 * one handle the events.
 */
export interface Scheduler {
  apply(event: GridEvent, now: Instant): readonly Effect[]
  /** When the next `tick` is due: never late, sometimes early; undefined without a timer. */
  nextDue(): Instant | undefined
  /** Explains where the task is and what it waits for. Empty for an unknown or finished task. */
  why(task: string, now: Instant): readonly string[]
  /** Undefined for an unknown or finished task. */
  stateOf(task: string): TaskState | undefined
  figures(): Figures
}

/** `epoch` and `random` are required; the other options have defaults. */
export type SchedulerSettings = Pick<SchedulerOptions, 'epoch' | 'random'> & Partial<SchedulerOptions>

export function createScheduler(settings: SchedulerSettings): Scheduler {
  const options = { ...DEFAULT_OPTIONS, ...settings }
  const grid = makeGridState({ ...options, startedAt: Math.floor(options.startedAt) })
  return {
    apply(event, now) {
      // Whole milliseconds: V8 stores a fraction outside of its object.
      if (now >= grid.now + 1) grid.now = Math.floor(now)
      grid.effects = []
      handle(grid, event)
      settleGrid(grid)
      return grid.effects
    },
    nextDue: () => (grid.timers.size === 0 ? undefined : grid.timers.firstKey),
    why: (task, now) => explainTask(grid, task, Math.max(now, grid.now)),
    stateOf: (task) => grid.tasks.get(task)?.state,
    figures: () => readFigures(grid),
  }
}

function handle(grid: GridState, event: GridEvent): void {
  switch (event.kind) {
    case 'tick':
      return tick(grid)
    case 'submit':
      return submitTask(grid, event)
    case 'restore':
      return restoreTask(grid, event)
    case 'join':
      return joinTask(grid, event)
    case 'leave':
      return leaveTask(grid, event)
    case 'cancel':
      return cancel(grid, event)
    case 'register':
      return registerWorker(grid, event)
    case 'started':
      return reportStarted(grid, event)
    case 'finished':
      return reportFinished(grid, event)
    case 'returned':
      return reportReturned(grid, event)
    default:
      return handleWorker(grid, event)
  }
}

type WorkerEvent = Extract<
  GridEvent,
  { kind: 'heartbeat' | 'ask' | 'disconnected' | 'unregister' | 'preempted' | 'drain' | 'resume' }
>

function handleWorker(grid: GridState, event: WorkerEvent): void {
  const worker = grid.workers.get(event.worker)
  if (worker === undefined) {
    // The server has restarted, or has removed the worker as lost: the worker must register again.
    if (event.kind === 'heartbeat' || event.kind === 'ask')
      grid.effects.push({ kind: 'order', worker: event.worker, order: 'register' })
    return
  }
  switch (event.kind) {
    case 'heartbeat':
      return recordHeartbeat(grid, worker, event)
    case 'ask':
      worker.asked = Math.max(0, Math.floor(event.tasks) || 0)
      worker.lastMessageAt = grid.now
      worker.disconnectedAt = undefined
      clearRefusals(worker)
      freeWorker(grid, worker)
      return
    case 'disconnected':
      worker.disconnectedAt ??= grid.now
      freeWorker(grid, worker)
      return watchWorker(grid, worker, lostAt(grid, worker))
    case 'unregister':
      return dismissWorker(grid, worker, 'it left')
    case 'preempted':
      grid.effects.push({ kind: 'order', worker: worker.id, order: 'shutdown' })
      return dismissWorker(grid, worker, 'it was taken away')
    case 'drain':
      return drainBy(grid, worker, event.shutdown ?? false)
    case 'resume':
      if (worker.state === 'DRAINING') grid.effects.push({ kind: 'order', worker: worker.id, order: 'resume' })
      return resumeWorker(grid, worker)
  }
}

function drainBy(grid: GridState, worker: Worker, shutdown: boolean): void {
  worker.shutdownWhenEmpty = shutdown
  freeWorker(grid, worker)
  if (worker.state === 'DRAINING') return
  grid.effects.push({ kind: 'order', worker: worker.id, order: 'drain' })
  drainWorker(grid, worker)
}

function cancel(grid: GridState, { task: id, what = 'cancelled' }: { task: string; what?: string }): void {
  const task = grid.tasks.get(id)
  if (task !== undefined) requestCancel(grid, task, what)
}
