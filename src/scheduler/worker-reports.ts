import type { GridState } from './grid.ts'
import { failAttempt, finishTask, undoAttempt, yieldTask } from './leases/end-attempt.ts'
import { learnDuration, startStaged } from './leases/grant-lease.ts'
import { type AttemptLease, taskHeld, timeoutAt } from './leases/lease-table.ts'
import { clearRefusals, confirmEnd } from './leases/unconfirmed-ends.ts'
import type { AttemptRef, FinishedReport, ReturnedReport } from './model/events.ts'
import type { Task } from './queue/records.ts'
import { reviewWorker } from './review-worker.ts'
import { refreshWorker, watchWorker } from './workers/worker.ts'

/** A returned task is not a fault, but more returns than this count as one. */
const MOST_RETURNS = 32

interface Report extends AttemptRef {
  readonly worker: string
}

interface Held {
  readonly task: Task
  readonly lease: AttemptLease
}

/** The task and its lease, if the report is for the current lease. Otherwise the report is recorded and ignored. */
function reportedLease(grid: GridState, { task: id, worker, fencing }: Report): Held | undefined {
  const lease = grid.leases.find(fencing)
  const task = lease?.task
  if (lease !== undefined && task !== undefined) {
    preloadTask(grid, task, lease)
    if (task.id === id && lease.workerId === worker) return { task, lease }
  }
  grid.effects.push({ kind: 'superseded', task: id, worker, fencing })
  return undefined
}

/**
 * Reads one field of every object that the end of the task will need. With a million tasks, none of them is in the
 * processor's cache, and a decision that loads one after the other waits for each. These reads do not depend on each
 * other, so the processor overlaps them. The sum keeps them from being optimised away.
 */
function preloadTask(grid: GridState, task: Task, lease: AttemptLease): void {
  const { group, invocation, instance, demand, id } = task
  const { worker, workerId } = lease
  let sum = grid.tasks.preload(task) + group.active + invocation.queued + instance.active + id.length + workerId.length
  sum += (demand.cpu > 0 ? 1 : 0) + task.attempt + lease.charged
  if (worker !== undefined) {
    const { firstStaged, free, turn } = worker
    sum += (free.cpu > 0 ? 1 : 0) + turn
    // This task most likely gets the slot next.
    if (firstStaged !== undefined) {
      const next = taskHeld(grid, firstStaged)
      if (next !== undefined) sum += next.demand.cpu > 0 ? 1 : 0
    }
  }
  grid.preloaded = sum
}

/** The same for a report that ends the attempt; it confirms the end of an attempt without a lease. */
function endedLease(grid: GridState, report: Report): Held | undefined {
  const held = reportedLease(grid, report)
  if (held === undefined) confirmEnd(grid, report.worker, report.fencing)
  return held
}

export function reportStarted(grid: GridState, report: Report): void {
  const held = reportedLease(grid, report)
  if (held === undefined) {
    const { task, worker, fencing } = report
    grid.effects.push({ kind: 'stop', task, worker, fencing, why: 'superseded' })
    return
  }
  if (held.task.state === 'assigned') start(grid, held)
}

function start(grid: GridState, { task, lease }: Held): void {
  const { worker } = lease
  if (lease.staged && worker !== undefined) startStaged(grid, task, worker)
  lease.startedAt = grid.now
  grid.tasks.move(task, 'start')
  grid.effects.push({ kind: 'started', task: task.id, worker: lease.workerId, fencing: lease.fencing })
  if (worker === undefined) return
  worker.lastMessageAt = grid.now
  worker.health.noteLatency(grid.now - lease.grantedAt)
  watchWorker(grid, worker, timeoutAt(grid.options.timeoutGraceMs, lease, task.timeoutMs))
}

export function reportFinished(grid: GridState, event: FinishedReport): void {
  const held = endedLease(grid, event)
  if (held === undefined) return
  const { task, lease } = held
  const { worker } = lease
  if (worker !== undefined) {
    worker.health.noteAttempt(event.outcome.kind === 'fault', grid.now)
    worker.lastMessageAt = grid.now
    clearRefusals(worker)
    reviewWorker(grid, worker)
  }
  const ranMs = grid.now - (lease.startedAt ?? lease.grantedAt)
  if (task.state === 'stopping') {
    finishTask(grid, task, { move: 'finish', why: 'cancelled', what: 'cancelled', ranMs })
    return
  }
  if (task.state === 'assigned' && event.outcome.kind !== 'fault') start(grid, held)
  apply(grid, event, { task, ranMs })
}

function apply(grid: GridState, { outcome }: FinishedReport, { task, ranMs }: { task: Task; ranMs: number }): void {
  const { retry } = grid.options
  const again = () => task.faults < task.maxRetries && !task.interactive
  if (outcome.kind === 'fault') return failAttempt(grid, task, outcome)
  if (outcome.kind === 'stopped')
    return failAttempt(grid, task, { what: 'the worker stopped the attempt without a request' })
  learnDuration(task.group, ranMs)
  if (outcome.kind === 'timeout') {
    if (retry.onTimeout && again()) return failAttempt(grid, task, { what: 'the time-out has passed' })
    return finishTask(grid, task, { move: 'expire', why: 'timeout', what: 'the time-out has passed', ranMs })
  }
  if (!outcome.succeeded && retry.onFailure && again()) return failAttempt(grid, task, { what: 'the command failed' })
  return finishTask(grid, task, { move: 'finish', why: 'result', what: 'it has a result', ranMs })
}

export function reportReturned(grid: GridState, report: ReturnedReport): void {
  const held = endedLease(grid, report)
  if (held === undefined) return
  const { worker } = held.lease
  if (report.noSlot) return refused(grid, held, report.what)
  // A worker may return tasks that it has not started, for instance because it is about to leave.
  if (worker !== undefined && report.undelivered) {
    worker.health.noteAttempt(true, grid.now)
    reviewWorker(grid, worker)
  }
  if (++held.task.yields > MOST_RETURNS) failAttempt(grid, held.task, { what: report.what })
  else yieldTask(grid, held.task, report.what)
}

/** The worker has no slot for the task: it gets no task until it has ended an attempt or listed its attempts. */
function refused(grid: GridState, { task, lease }: Held, what: string): void {
  const { worker, staged } = lease
  if (worker !== undefined && staged) worker.refusesStaging = true
  else if (worker !== undefined) worker.refusesTasks = true
  undoAttempt(grid, task, what)
  if (worker !== undefined) refreshWorker(grid, worker)
}
