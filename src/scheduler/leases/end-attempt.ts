import type { FinalState } from '../../model/task-state.ts'
import type { EndWhy } from '../model/effects.ts'
import type { TaskMove } from '../model/task-machine.ts'
import { dequeue } from '../queue/enqueue.ts'
import type { Task } from '../queue/records.ts'
import { releaseLease } from './grant-lease.ts'
import { currentLease, type LeaseState } from './lease-table.ts'

/** The time constant of the average rate of finished tasks. */
const DRAIN_WINDOW_MS = 10_000

export interface TaskEnd {
  readonly move: TaskMove
  readonly why: EndWhy
  readonly what: string
  /** How long the command ran. Only this time is charged to the instance. */
  readonly ranMs?: number
}

/** Ends a task. Every end of a task passes through this function and produces one `finished` effect. */
export function finishTask(grid: LeaseState, task: Task, { move, why, what, ranMs = 0 }: TaskEnd): void {
  if (task.inGroup) dequeue(grid, task)
  const lease = releaseLease(grid, task, ranMs)
  grid.tasks.move(task, move)
  forget(grid, task)
  noteDrain(grid)
  const { id, state } = task as { id: string; state: FinalState }
  if (lease === undefined) grid.effects.push({ kind: 'finished', task: id, state, why, what })
  else grid.effects.push({ kind: 'finished', task: id, state, why, what, fencing: lease.fencing })
}

function forget(grid: LeaseState, task: Task): void {
  const { instance, invocation } = task
  grid.tasks.delete(task)
  if (--invocation.unfinished === 0) {
    instance.invocations.delete(invocation.name)
    grid.ledger.close(invocation.number)
  }
  instance.unfinished--
  task.group.unfinished--
}

function noteDrain({ drain, now }: LeaseState): void {
  const elapsed = now - drain.at
  drain.rate = drain.rate * Math.exp(-elapsed / DRAIN_WINDOW_MS) + 1 / DRAIN_WINDOW_MS
  drain.at = now
}

export interface AttemptFailure {
  readonly what: string
  /** The worker was lost during the attempt. */
  readonly lostWorker?: string
  /** A retry would fail in the same way. */
  readonly final?: boolean
}

/** Ends an attempt that failed by a fault of the grid, and retries the task unless its limits are reached. */
export function failAttempt(grid: LeaseState, task: Task, { what, lostWorker, final = false }: AttemptFailure): void {
  if (task.state === 'stopping') {
    finishTask(grid, task, { move: 'lapse', why: 'cancelled', what: 'cancelled' })
    return
  }
  avoidHolder(grid, task)
  releaseLease(grid, task, 0)
  grid.tasks.move(task, 'lapse')
  task.faults++
  if (lostWorker !== undefined && !task.lostWorkers.includes(lostWorker)) {
    task.lostWorkers = [...task.lostWorkers, lostWorker]
  }
  const end = finalFault(grid, task, { what, final })
  if (end !== undefined) {
    finishTask(grid, task, { move: 'giveUp', ...end })
    return
  }
  // A task of a lost worker is retried at once on another worker; a task that failed by itself is retried after a delay.
  const dueAt = grid.now + (lostWorker === undefined ? backoffMs(grid, task) : 0)
  const { faults, lostWorkers } = task
  grid.effects.push({ kind: 'retrying', task: task.id, what, faults, lostWorkers, dueAt })
  if (dueAt > grid.now) retryAt(grid, task, dueAt)
  else requeueTask(grid, task)
}

/** Makes the task avoid the worker that holds it. */
function avoidHolder(grid: LeaseState, task: Task): void {
  const id = currentLease(grid, task)?.workerId
  if (id !== undefined && !task.avoids.includes(id)) task.avoids = [...task.avoids, id]
}

export function retryAt(grid: LeaseState, task: Task, dueAt: number): void {
  task.queuedAt = dueAt
  grid.timers.push(dueAt, { look: 'retry', task })
}

/** Decided before the journal records the end, because a finished task is never reopened. */
function finalFault({ options }: LeaseState, task: Task, { what, final = false }: AttemptFailure) {
  if (final) return { why: 'hopeless', what } as const
  if (task.interactive) return { why: 'faults', what: `${what}; interactive runs are not retried` } as const
  if (task.lostWorkers.length > options.retry.maxLostWorkers)
    return { why: 'poison', what: `lost with ${task.lostWorkers.join(' and ')}: ${what}` } as const
  if (task.faults > task.maxRetries)
    return { why: 'faults', what: `${what} (attempt ${task.attempt}, no retries left)` } as const
  return undefined
}

const backoffMs = ({ options: { retry } }: LeaseState, { faults }: Task): number =>
  Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** (faults - 1))

/** Queues a task whose retry delay is over. */
export function requeueTask(grid: LeaseState, task: Task): void {
  grid.tasks.move(task, 'enqueue')
  toQueue(grid, task)
}

/** Queues a task again that never got a slot on its worker. The lease does not count as an attempt. */
export function undoAttempt(grid: LeaseState, task: Task, what: string): void {
  if (task.state === 'stopping') return failAttempt(grid, task, { what })
  releaseLease(grid, task, 0)
  grid.tasks.move(task, 'yield')
  task.attempt--
  toQueue(grid, task)
}

/** Queues a task again whose attempt ended without a fault. An interactive task that had started cannot be repeated. */
export function yieldTask(grid: LeaseState, task: Task, what: string): void {
  const lease = currentLease(grid, task)
  if (lease?.staged) return undoAttempt(grid, task, what)
  const hasStarted = lease?.startedAt !== undefined
  if (task.state === 'stopping' || (task.interactive && hasStarted)) {
    failAttempt(grid, task, { what })
    return
  }
  releaseLease(grid, task, 0)
  grid.tasks.move(task, 'yield')
  toQueue(grid, task)
}

function toQueue(grid: LeaseState, task: Task): void {
  task.queuedAt = grid.now
  grid.effects.push({ kind: 'queued', task: task.id, attempt: task.attempt + 1, faults: task.faults })
  grid.toPlace.push(task)
}
