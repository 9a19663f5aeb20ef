import { firstWarm } from './affinity.ts'
import { mayStage, refresh } from './availability.ts'
import { within } from './demand.ts'
import type { Grid } from './grid.ts'
import { grant } from './leases.ts'
import { enqueue } from './queueing.ts'
import { noteBlocked } from './reservations.ts'
import { CHOOSE } from './strategies.ts'
import type { Task } from './task.ts'
import { loadOf, type Worker } from './worker.ts'

/** So many workers are compared. The best of sixteen by chance is among the best of any number. */
const SAMPLE = 16
/** And no further class of workers is looked at after so many. */
const MOST_CANDIDATES = 64

/** A queued task goes to a slot that is free now; without one it waits, and may be staged where it will likely run. */
export function place(grid: Grid, task: Task): void {
  const worker = grid.openWorkers === 0 ? undefined : chooseWorker(grid, task)
  if (worker !== undefined) {
    grant(grid, task, { worker, staged: false })
    refresh(grid, worker)
    return
  }
  enqueue(grid, task, task.attempt > 0)
  if (task.strand === undefined) return
  const stager = chooseStager(grid, task)
  if (stager === undefined) return
  grant(grid, task, { worker: stager, staged: true })
  refresh(grid, stager)
}

function chooseWorker(grid: Grid, task: Task): Worker | undefined {
  const { pool } = task.lane
  // What was queued before it and asks for no more has found nothing either.
  if (pool.queued > 0 && pool.lastDemand !== undefined && within(pool.lastDemand, task.demand)) return undefined
  const fitting = candidates(grid, task)
  if (fitting.length === 0) {
    if (pool.live > 0) noteBlocked(grid, pool)
    return undefined
  }
  const well = fitting.filter(({ state }) => state !== 'DEGRADED')
  const cold = CHOOSE[grid.options.strategy](well.length > 0 ? well : fitting, grid)
  return warmEnough(grid, task, cold) ?? cold
}

const fits = (worker: Worker, { demand }: Task): boolean => within(demand, worker.free)

/** A worker that had the inputs before, unless it is so much fuller that fetching them elsewhere is better. */
function warmEnough(grid: Grid, task: Task, cold: Worker | undefined): Worker | undefined {
  if (task.input1 === undefined || cold === undefined) return undefined
  const most = loadOf(cold) + grid.options.affinityLoadSlack
  return firstWarm(
    task,
    (worker) =>
      // In no room when it is gone, too.
      worker.room !== undefined &&
      worker.state !== 'DEGRADED' &&
      fits(worker, task) &&
      loadOf(worker) <= most &&
      task.lane.pool.classes.includes(worker.class),
  )
}

/**
 * Open workers with room for it: all of them if they are few, else some by chance. Workers whose bucket of room ends
 * below what is asked are not looked at; of those in the same bucket only some are, and if one with room is missed, it
 * is found when the task has waited for a while.
 */
function candidates({ options: { random } }: Grid, task: Task): Worker[] {
  const found: Worker[] = []
  for (const { rooms } of task.lane.pool.classes) {
    for (const { floor, workers } of rooms.values()) {
      const { length } = workers
      if (length === 0 || !within(task.lane.pool.floor, floor)) continue
      const start = length > SAMPLE ? Math.floor(random() * length) : 0
      for (let i = 0; i < Math.min(SAMPLE, length); i++) {
        const worker = workers[(start + i) % length] as Worker
        if (fits(worker, task)) found.push(worker)
      }
    }
    if (found.length > MOST_CANDIDATES) break
  }
  return found
}

function chooseStager(grid: Grid, task: Task): Worker | undefined {
  for (const { stagers } of task.lane.pool.classes) {
    if (stagers.length === 0) continue
    const worker = stagers[Math.floor(grid.options.random() * stagers.length)]
    if (worker !== undefined && mayStage(grid, worker) && within(task.demand, worker.total)) return worker
  }
  return undefined
}
