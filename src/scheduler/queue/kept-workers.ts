import { freeWorker, type GridState } from '../grid.ts'
import { fitsWithin } from '../model/amounts.ts'
import { takesTasks, type Worker } from '../workers/worker.ts'
import type { Task } from './task.ts'
import type { WorkerPool } from './worker-pool.ts'

/**
 * Small tasks fit into every gap, so a large one could wait for ever. When the next task of a pool has found no room for
 * a while, one worker that could hold it takes nothing else until it does. At most a tenth of the workers are kept so.
 */
const KEPT_PART = 10

/** A free slot had no room for what was next in the pool. */
export function notePoolBlocked(grid: GridState, pool: WorkerPool): void {
  pool.blockedSince ??= grid.now
  if (pool.lookedAfter) return
  pool.lookedAfter = true
  grid.timers.push(pool.blockedSince + grid.options.reserveAfterMs, { look: 'pool', pool })
}

export function reviewBlockedPool(grid: GridState, pool: WorkerPool): void {
  pool.lookedAfter = false
  if (pool.blockedSince === undefined || pool.kept !== undefined) return
  const next = pool.order.first()?.next?.first()?.head
  if (next === undefined) return
  if (grid.now >= pool.blockedSince + grid.options.reserveAfterMs) keepWorker(grid, pool, next)
  if (pool.kept !== undefined) return
  pool.lookedAfter = true
  const { reserveAfterMs } = grid.options
  grid.timers.push(Math.max(grid.now, pool.blockedSince) + reserveAfterMs, { look: 'pool', pool })
}

function keepWorker(grid: GridState, pool: WorkerPool, task: Task): void {
  if (grid.keptWorkers > 0 && grid.keptWorkers >= grid.workers.size / KEPT_PART) return
  let best: Worker | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const { workers } of pool.classes) {
    for (const worker of workers) {
      if (!takesTasks(worker) || worker.keptFor !== undefined || !fitsWithin(task.demand, worker.total)) continue
      const near = nearness(worker, task)
      if (near > most) [best, most] = [worker, near]
    }
  }
  if (best === undefined) return
  best.keptFor = pool
  pool.kept = best
  grid.keptWorkers++
  freeWorker(grid, best)
}

/** How much of what it needs is there already. */
function nearness({ free }: Worker, { demand }: Task): number {
  const part = (has: number, needs: number): number => (needs === 0 ? 1 : Math.min(1, has / needs))
  return Math.min(part(free.cpu, demand.cpu), part(free.memory, demand.memory), part(free.disk, demand.disk))
}

/** The worker is everybody's again. */
export function releaseKeptWorker(grid: GridState, pool: WorkerPool): void {
  const worker = pool.kept
  if (worker === undefined) return
  pool.kept = undefined
  worker.keptFor = undefined
  grid.keptWorkers--
  freeWorker(grid, worker)
}
