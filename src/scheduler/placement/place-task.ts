import type { GridState } from '../grid.ts'
import { grantLease } from '../leases/grant-lease.ts'
import { fitsWithin } from '../model/amounts.ts'
import { enqueue } from '../queue/enqueue.ts'
import { notePoolBlocked } from '../queue/kept-workers.ts'
import type { Task } from '../queue/task.ts'
import { firstWarmWorker } from '../workers/affinity.ts'
import { mayStage, refreshWorker } from '../workers/availability.ts'
import { loadOf, type Worker } from '../workers/worker.ts'
import type { WorkerClass } from '../workers/worker-class.ts'
import { avoidsWorker } from './avoided-workers.ts'
import { mayHaveSlot, offerKept } from './reserved-slots.ts'
import { CHOOSE } from './strategies.ts'

/** So many are all compared. */
const FEW = 16
/** Of more, so many by chance: the best of them is among the best eighth of all, which is as good as any. */
const SAMPLE = 8
/** Of several lists so many each, so that those compared are not all of one kind. */
const SAMPLE_OF_MANY = 4

/** A queued task goes to a slot that is free now; without one it waits, and may be staged where it will likely run. */
export function placeTask(grid: GridState, task: Task): void {
  const isOpen = grid.openWorkers > 0 && mayHaveSlot(grid, task.instance)
  const worker = isOpen ? chooseWorker(grid, task) : undefined
  if (worker !== undefined) {
    grantLease(grid, task, { worker, staged: false })
    offerKept(grid, task.instance)
    refreshWorker(grid, worker)
    return
  }
  enqueue(grid, task, task.attempt > 0)
  if (task.invocationQueue === undefined) return
  const stager = chooseStager(grid, task)
  if (stager === undefined) return
  grantLease(grid, task, { worker: stager, staged: true })
  refreshWorker(grid, stager)
}

function chooseWorker(grid: GridState, task: Task): Worker | undefined {
  const { pool } = task.group
  // What was queued before it and asks for no more has found nothing either, unless a slot is kept for this one.
  const mayBeKept = grid.reservers.length > 0 || pool.avoiding > 0
  if (!mayBeKept && pool.queued > 0 && pool.lastDemand !== undefined && fitsWithin(pool.lastDemand, task.demand))
    return undefined
  const fitting = candidates(grid, task)
  if (fitting.length === 0) {
    if (pool.live > 0) notePoolBlocked(grid, pool)
    return undefined
  }
  const well = fitting.filter(({ state }) => state !== 'DEGRADED')
  const cold = CHOOSE[grid.options.strategy](well.length > 0 ? well : fitting, grid)
  return warmEnough(grid, task, cold) ?? cold
}

const fits = (worker: Worker, task: Task): boolean =>
  fitsWithin(task.demand, worker.free) && !avoidsWorker(task, worker)

/** A worker that had the inputs before, unless it is so much fuller that fetching them elsewhere is better. */
function warmEnough(grid: GridState, task: Task, cold: Worker | undefined): Worker | undefined {
  if (task.input1 === undefined || cold === undefined) return undefined
  const most = loadOf(cold) + grid.options.affinityLoadSlack
  return firstWarmWorker(
    task,
    (worker) =>
      // In no room when it is gone, too.
      worker.openIn !== undefined &&
      worker.state !== 'DEGRADED' &&
      fits(worker, task) &&
      loadOf(worker) <= most &&
      task.group.pool.classes.includes(worker.class),
  )
}

/**
 * Open workers with room for it: all of them if they are few, else some by chance. Workers whose bucket of room ends
 * below what is asked are not looked at; of those in the same bucket only some are, and if one with room is missed, it
 * is found when the task has waited for a while.
 */
function candidates(grid: GridState, task: Task): Worker[] {
  const { classes } = task.group.pool
  const found: Worker[] = []
  if (grid.openWorkers <= FEW) {
    for (const one of classes) addFitting(found, one, { task, most: FEW })
    return found
  }
  const { random } = grid.options
  const most = classes.length > 1 ? SAMPLE_OF_MANY : SAMPLE
  const first = Math.floor(random() * classes.length)
  for (let i = 0; i < classes.length && found.length < SAMPLE; i++)
    addFitting(found, classes[(first + i) % classes.length] as WorkerClass, { task, most, random })
  return found
}

interface Sampling {
  readonly task: Task
  /** Of those that have as much room. */
  readonly most: number
  /** Where to begin in a list that is longer; without it, at the first. */
  readonly random?: () => number
}

function addFitting(found: Worker[], { openBySpace }: WorkerClass, { task, most, random }: Sampling): void {
  for (const { floor, workers } of openBySpace.values()) {
    const { length } = workers
    if (length === 0 || !fitsWithin(task.group.pool.floor, floor)) continue
    let at = random === undefined || length <= most ? 0 : Math.floor(random() * length)
    for (let n = Math.min(most, length); n > 0; n--, at++) {
      const worker = workers[at < length ? at : at - length] as Worker
      if (fits(worker, task)) found.push(worker)
    }
  }
}

function chooseStager(grid: GridState, task: Task): Worker | undefined {
  for (const { stagers } of task.group.pool.classes) {
    if (stagers.length === 0) continue
    const worker = stagers[Math.floor(grid.options.random() * stagers.length)]
    if (
      worker !== undefined &&
      mayStage(grid, worker) &&
      fitsWithin(task.demand, worker.total) &&
      !avoidsWorker(task, worker)
    )
      return worker
  }
  return undefined
}
