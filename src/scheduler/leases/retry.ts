import type { GridState } from '../grid.ts'
import { moveTask } from '../grid.ts'
import { avoidHolder } from '../placement/avoided-workers.ts'
import type { Task } from '../queue/task.ts'
import { finishTask } from './finish-task.ts'
import { releaseLease } from './grant-lease.ts'

export interface AttemptFailure {
  readonly what: string
  /** It went down together with its worker. */
  readonly lostWorker?: string
  /** It would only happen again. */
  readonly final?: boolean
}

/** An attempt came to nothing by a fault of the grid: try again, unless it was too often. */
export function failAttempt(grid: GridState, task: Task, { what, lostWorker, final = false }: AttemptFailure): void {
  if (task.state === 'stopping') {
    finishTask(grid, task, { move: 'lapse', why: 'cancelled', what: 'cancelled' })
    return
  }
  avoidHolder(task)
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
  // Another worker can have what this one lost; only what failed by itself is better left alone for a while.
  const dueAt = grid.now + (lostWorker === undefined ? backoffMs(grid, task) : 0)
  const { faults, lostWorkers } = task
  grid.effects.push({ kind: 'retrying', task: task.id, what, faults, lostWorkers, dueAt })
  if (dueAt > grid.now) retryAt(grid, task, dueAt)
  else requeueTask(grid, task)
}

export function retryAt(grid: GridState, task: Task, dueAt: number): void {
  task.queuedAt = dueAt
  grid.timers.push(dueAt, { look: 'retry', task })
}

/** Decided before anything is recorded: a task that has ended is never opened again. */
function finalFault({ options }: GridState, task: Task, { what, final = false }: AttemptFailure) {
  if (final) return { why: 'hopeless', what } as const
  if (task.interactive) return { why: 'faults', what: `${what}; an interactive run is not tried again` } as const
  if (task.lostWorkers.length > options.retry.maxLostWorkers)
    return { why: 'poison', what: `it was lost with ${task.lostWorkers.join(' and ')}: ${what}` } as const
  if (task.faults > task.maxRetries)
    return { why: 'faults', what: `${what} (attempt ${task.attempt}, the last)` } as const
  return undefined
}

const backoffMs = ({ options: { retry } }: GridState, { faults }: Task): number =>
  Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** (faults - 1))

/** The wait for the next try is over. */
export function requeueTask(grid: GridState, task: Task): void {
  moveTask(grid, task, 'enqueue')
  toQueue(grid, task)
}

/** The worker never had a slot for it: that was no attempt, and the next one has the same number. */
export function undoAttempt(grid: GridState, task: Task, what: string): void {
  if (task.state === 'stopping') return failAttempt(grid, task, { what })
  releaseLease(grid, task, 0)
  moveTask(grid, task, 'yield')
  task.attempt--
  toQueue(grid, task)
}

/** The attempt ends, and that is nobody's fault. One that had begun cannot be had again if somebody sat in front of it. */
export function yieldTask(grid: GridState, task: Task, what: string): void {
  if (task.lease?.staged) return undoAttempt(grid, task, what)
  const begun = task.lease?.startedAt !== undefined
  if (task.state === 'stopping' || (task.interactive && begun)) {
    failAttempt(grid, task, { what })
    return
  }
  releaseLease(grid, task, 0)
  moveTask(grid, task, 'yield')
  toQueue(grid, task)
}

function toQueue(grid: GridState, task: Task): void {
  task.queuedAt = grid.now
  grid.effects.push({ kind: 'queued', task: task.id, attempt: task.attempt + 1, faults: task.faults })
  grid.toPlace.push(task)
}
