import { fitsWithin } from '../model/requirements.ts'
import type { Worker } from '../workers/records.ts'
import { freeWorker, takesTasks } from '../workers/worker.ts'
import type { QueueState } from './queue-state.ts'
import type { Task, WorkerPool } from './records.ts'

/**
 * Small tasks fit everywhere, so a large task could wait forever. When the next task of a pool has found no worker with
 * enough space for `reserveAfterMs`, one worker that is large enough is kept for it and accepts no other task. At most
 * one worker in ten is kept.
 */
const KEPT_PART = 10

/** Notes that a free slot had not enough space for the next task of the pool. */
export function notePoolBlocked(grid: QueueState, pool: WorkerPool): void {
  pool.blockedSince ??= grid.now
  if (pool.lookedAfter) return
  pool.lookedAfter = true
  grid.timers.push(pool.blockedSince + grid.options.reserveAfterMs, { look: 'pool', pool })
}

export function reviewBlockedPool(grid: QueueState, pool: WorkerPool): void {
  pool.lookedAfter = false
  if (pool.blockedSince === undefined || pool.kept !== undefined) return
  const next = pool.order.first()?.next?.order.first()?.head
  if (next === undefined) return
  if (grid.now >= pool.blockedSince + grid.options.reserveAfterMs) keepWorker(grid, pool, next)
  if (pool.kept !== undefined) return
  pool.lookedAfter = true
  const { reserveAfterMs } = grid.options
  grid.timers.push(Math.max(grid.now, pool.blockedSince) + reserveAfterMs, { look: 'pool', pool })
}

function keepWorker(grid: QueueState, pool: WorkerPool, task: Task): void {
  if (grid.keptFor.size > 0 && grid.keptFor.size >= grid.workers.size / KEPT_PART) return
  let best: Worker | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const { workers } of pool.classes) {
    for (const worker of workers) {
      if (!takesTasks(worker) || worker.kept || !fitsWithin(task.demand, worker.total)) continue
      const part = freePart(worker, task)
      if (part > most) [best, most] = [worker, part]
    }
  }
  if (best === undefined) return
  best.kept = true
  grid.keptFor.set(best, pool)
  pool.kept = best
  freeWorker(grid, best)
}

/** The part of the demand that the worker has free now. */
function freePart({ free }: Worker, { demand }: Task): number {
  const part = (has: number, needs: number): number => (needs === 0 ? 1 : Math.min(1, has / needs))
  return Math.min(part(free.cpu, demand.cpu), part(free.memory, demand.memory), part(free.disk, demand.disk))
}

/** Lets the kept worker accept any task again. */
export function releaseKeptWorker(grid: QueueState, pool: WorkerPool): void {
  const worker = pool.kept
  if (worker === undefined) return
  pool.kept = undefined
  worker.kept = false
  grid.keptFor.delete(worker)
  freeWorker(grid, worker)
}
