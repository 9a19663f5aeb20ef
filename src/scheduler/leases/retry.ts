import { moveTask } from '../queue/queue-state.ts'
import type { Task } from '../queue/records.ts'
import { finishTask } from './finish-task.ts'
import { releaseLease } from './grant-lease.ts'
import { currentLease, type LeaseState } from './lease-state.ts'

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
  moveTask(grid, task, 'lapse')
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

/** Decided before the journal records anything: a finished task is never reopened. */
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
  moveTask(grid, task, 'enqueue')
  toQueue(grid, task)
}

/** Queues a task again that never got a slot on its worker. The lease does not count as an attempt. */
export function undoAttempt(grid: LeaseState, task: Task, what: string): void {
  if (task.state === 'stopping') return failAttempt(grid, task, { what })
  releaseLease(grid, task, 0)
  moveTask(grid, task, 'yield')
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
  moveTask(grid, task, 'yield')
  toQueue(grid, task)
}

function toQueue(grid: LeaseState, task: Task): void {
  task.queuedAt = grid.now
  grid.effects.push({ kind: 'queued', task: task.id, attempt: task.attempt + 1, faults: task.faults })
  grid.toPlace.push(task)
}
