import { grantLease } from '../leases/grant-lease.ts'
import type { SchedulerOptions, Strategy } from '../model/options.ts'
import { fitsWithin } from '../model/requirements.ts'
import { enqueue } from '../queue/enqueue.ts'
import { notePoolBlocked } from '../queue/kept-workers.ts'
import type { Task } from '../queue/records.ts'
import { firstWarmWorker } from '../workers/affinity.ts'
import type { Worker, WorkerClass } from '../workers/records.ts'
import { loadOf, mayStage, refreshWorker } from '../workers/worker.ts'
import { avoidsWorker } from './avoided-workers.ts'
import { mayHaveSlot, offerKept, type PlacementState } from './reserved-slots.ts'

/** Up to this number of open workers, all are compared. */
const FEW = 16
/** With more workers, this many are sampled at random: the best of them is on average in the best eighth of all. */
const SAMPLE = 8
/** With several classes, this many of each list are sampled, so that the sample has workers of several classes. */
const SAMPLE_OF_MANY = 4

/** Leases a queued task to a free slot. Without one the task is queued, and staged on a worker if one can stage it. */
export function placeTask(grid: PlacementState, task: Task): void {
  const reserves = grid.reservers.length > 0
  const mayTakeSlot = grid.openWorkers > 0 && (!reserves || mayHaveSlot(grid, task.instance))
  const worker = mayTakeSlot ? chooseWorker(grid, task) : undefined
  if (worker !== undefined) {
    grantLease(grid, task, { worker, staged: false })
    if (reserves) offerKept(grid, task.instance)
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

function chooseWorker(grid: PlacementState, task: Task): Worker | undefined {
  const { pool } = task.group
  // An earlier queued task with a smaller demand has found no slot, so this one finds none, unless slots are reserved.
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
  fitsWithin(task.demand, worker.free) && (task.avoids.length === 0 || !avoidsWorker(task, worker))

/** A worker that used the inputs before, unless its load exceeds that of the best other one by `affinityLoadSlack`. */
function warmEnough(grid: PlacementState, task: Task, cold: Worker): Worker | undefined {
  if (task.input1 === undefined) return undefined
  const most = loadOf(cold) + grid.options.affinityLoadSlack
  return firstWarmWorker(
    task,
    (worker) =>
      worker.openIn !== undefined &&
      worker.state !== 'DEGRADED' &&
      fits(worker, task) &&
      loadOf(worker) <= most &&
      task.group.pool.classes.includes(worker.class),
  )
}

/**
 * Open workers with space for the task: all of them if they are few, else a random sample. Lists of workers with too
 * little space are skipped. If the sample misses a worker with space, the worker finds the task in the queue.
 */
function candidates(grid: PlacementState, task: Task): Worker[] {
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
  /** How many workers of each list are tried. */
  readonly most: number
  /** Chooses the start in a longer list; without it the search starts at the first worker. */
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

function chooseStager(grid: PlacementState, task: Task): Worker | undefined {
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

/** Chooses one of the workers, of which there is at least one, and which all have space for the task. */
type Choose = (workers: readonly Worker[], grid: PlacementState) => Worker

/** The first worker with the highest score. */
function best(workers: readonly Worker[], score: (worker: Worker) => number): Worker {
  let found = workers[0] as Worker
  let most = Number.NEGATIVE_INFINITY
  for (const worker of workers) {
    const value = score(worker)
    if (value > most) [found, most] = [worker, value]
  }
  return found
}

const anyOf: Choose = (workers, { options }) => workers[Math.floor(options.random() * workers.length)] as Worker

const CHOOSE: Readonly<Record<Strategy, Choose>> = {
  random: anyOf,
  // The worker whose last lease is the oldest. This equals a cycle, and is stable when workers connect and leave.
  'round-robin': (workers) => best(workers, ({ turn }) => -turn),
  'least-loaded': (workers) => best(workers, (worker) => -loadOf(worker)),
  weighted: (workers, { options, now }) => best(workers, (worker) => scoreOf(worker, options, now)),
  'two-choices': (workers, grid) => best([anyOf(workers, grid), anyOf(workers, grid)], (worker) => -loadOf(worker)),
}

/** From 0 to the sum of the weights. A latency of one second from lease to start halves the latency term. */
function scoreOf(worker: Worker, { weights }: SchedulerOptions, now: number): number {
  const { health } = worker
  return (
    weights.load * (1 - loadOf(worker)) +
    weights.success * (1 - health.errorRateAt(now)) +
    weights.latency / (1 + health.latencyMs / 1000)
  )
}
