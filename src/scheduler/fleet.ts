import { liveChanged, refresh } from './availability.ts'
import { offered } from './demand.ts'
import type { Attempt, Heartbeat, Register } from './events.ts'
import { Gauges } from './gauges.ts'
import type { Grid } from './grid.ts'
import { freeWorker, moveWorker } from './grid.ts'
import { heldTasks } from './held-leases.ts'
import { attach, detach } from './leases.ts'
import { classFor, classIdle } from './matchmaking.ts'
import { unpark } from './queueing.ts'
import { noteBlocked, unkeep } from './reservations.ts'
import { lapse, yieldTask } from './retry.ts'
import type { Task } from './task.ts'
import { review } from './upkeep.ts'
import { setListed, type Worker } from './worker.ts'
import { addShape, removeShape, sharedTotal } from './worker-class.ts'
import { leaseEndsAt, quietUntil, watchWorker } from './worker-watch.ts'

/** A worker comes, or comes again: then what it had before is what it lists, and the rest has lapsed. */
export function register(grid: Grid, event: Register): void {
  const before = grid.workers.get(event.worker)
  const had = before === undefined ? [] : heldTasks(before)
  if (before !== undefined) {
    for (const task of had) detach(grid, task)
    remove(grid, before, 'it registered again')
  }
  const awaited = [...(grid.awaited.get(event.worker) ?? [])]
  grid.awaited.delete(event.worker)
  const worker = add(grid, event)
  const listed = new Map(event.running?.map((attempt) => [attempt.task, attempt]))
  for (const task of [...had, ...awaited]) {
    if (keeps(grid, worker, { task, listed })) continue
    const what = `worker ${worker.id} came back without it`
    if (task.lease?.staged || awaited.includes(task)) yieldTask(grid, task, what)
    else lapse(grid, task, { what, lostWorker: worker.id })
  }
  stopStrangers(grid, worker, listed)
  if (!event.notReady) admit(grid, worker)
}

interface Claim {
  readonly task: Task
  readonly listed: Map<string, Attempt>
}

/** It still has the task, under the lease that counts. */
function keeps(grid: Grid, worker: Worker, { task, listed }: Claim): boolean {
  const { lease } = task
  const claimed = listed.get(task.id)
  if (lease === undefined || claimed === undefined || !lease.isUnder(claimed.fencing)) return false
  listed.delete(task.id)
  lease.renewedAt = grid.now
  attach(task, lease, worker)
  watchWorker(grid, worker, leaseEndsAt(grid, task, lease))
  if (task.state === 'stopping')
    grid.effects.push({
      kind: 'stop',
      task: task.id,
      worker: worker.id,
      fencing: lease.fencing,
      why: 'cancelled',
    })
  return true
}

/** What it holds and should not: somebody else has it, or nobody wants it. */
function stopStrangers(grid: Grid, { id: worker }: Worker, listed: ReadonlyMap<string, Attempt>): void {
  for (const { task, fencing } of listed.values())
    grid.effects.push({ kind: 'stop', task, worker, fencing, why: 'superseded' })
}

function add(grid: Grid, event: Register): Worker {
  const offer = { ...event, total: offered(event.resources) }
  const own = classFor(grid, offer)
  const total = sharedTotal(own, offer.total)
  const gauges = new Gauges(grid.gauges, total, grid.now)
  const worker: Worker = {
    // In this order they lie in memory: first what every decision reads or writes.
    id: event.worker,
    state: 'OFFLINE',
    class: own,
    free: gauges,
    firstHeld: undefined,
    lastHeld: undefined,
    firstStaged: undefined,
    staged: 0,
    used: 0,
    slots: Math.max(1, Math.floor(event.slots) || 1),
    prefetch: event.pulls ? 0 : Math.max(0, Math.floor(event.prefetch ?? 0) || 0),
    pulls: event.pulls ?? false,
    lastHeard: grid.now,
    disconnectedAt: undefined,
    keptFor: undefined,
    freed: false,
    shutdownWhenEmpty: false,
    lookAt: Number.POSITIVE_INFINITY,
    turn: 0,
    room: undefined,
    classAt: -1,
    stagerAt: -1,
    health: gauges,
    total,
    openAt: -1,
    asked: 0,
  }
  grid.workers.set(worker.id, worker)
  grid.anyRegistered = true
  for (const { name } of event.properties) grid.namesOffered.add(name)
  setListed(own.workers, worker, { place: 'classAt', listed: true })
  grid.workerCounts.OFFLINE++
  moveWorker(grid, worker, { move: 'register', what: 'it registered' })
  watchWorker(grid, worker, quietUntil(grid, worker))
  return worker
}

function admit(grid: Grid, worker: Worker): void {
  moveWorker(grid, worker, { move: 'admit', what: 'it is ready' })
  becomeLive(grid, worker)
}

/** From now on it counts for what can be served. */
function becomeLive(grid: Grid, worker: Worker): void {
  const isNew = addShape(worker.class, worker.total)
  liveChanged(grid, worker, 1)
  if (isNew) for (const pool of worker.class.pools) unpark(pool)
  freeWorker(grid, worker)
}

function ceaseLive(grid: Grid, worker: Worker): void {
  removeShape(worker.class, worker.total)
  liveChanged(grid, worker, -1)
  const pool = worker.keptFor
  if (pool === undefined) return
  unkeep(grid, pool)
  noteBlocked(grid, pool)
}

const isLive = ({ state }: Worker): boolean => state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED'

function remove(grid: Grid, worker: Worker, what: string): void {
  if (isLive(worker)) ceaseLive(grid, worker)
  moveWorker(grid, worker, { move: 'lose', what })
  grid.workerCounts.OFFLINE-- // what is gone is not counted
  refresh(grid, worker)
  setListed(worker.class.workers, worker, { place: 'classAt', listed: false })
  grid.workers.delete(worker.id)
  worker.free.close()
  classIdle(grid, worker.class)
}

/** Gone without a word: what it held is lost with it. */
export function loseWorker(grid: Grid, worker: Worker, what: string): void {
  const tasks = heldTasks(worker)
  remove(grid, worker, what)
  for (const task of tasks) {
    if (task.lease?.staged) yieldTask(grid, task, what)
    else lapse(grid, task, { what: `worker ${worker.id} is gone: ${what}`, lostWorker: worker.id })
  }
}

/** Gone in good order, or taken away: nothing of that is the tasks' doing. */
export function dismissWorker(grid: Grid, worker: Worker, what: string): void {
  const tasks = heldTasks(worker)
  remove(grid, worker, what)
  for (const task of tasks) yieldTask(grid, task, `worker ${worker.id}: ${what}`)
}

export function heartbeat(grid: Grid, worker: Worker, { holds, load, draining }: Heartbeat): void {
  worker.lastHeard = grid.now
  worker.disconnectedAt = undefined
  if (load !== undefined && load >= 0) worker.health.load = Math.min(1, load)
  if (worker.state === 'REGISTERING') admit(grid, worker)
  if (draining && worker.state !== 'DRAINING') drain(grid, worker)
  renew(grid, worker, holds)
  review(grid, worker)
  freeWorker(grid, worker)
}

function renew(grid: Grid, worker: Worker, holds: readonly Attempt[] | undefined): void {
  const listed = holds === undefined ? undefined : new Map(holds.map((attempt) => [attempt.task, attempt]))
  for (const task of heldTasks(worker)) {
    const { lease } = task
    if (lease === undefined) continue
    const claimed = listed?.get(task.id)
    const held = listed === undefined || (claimed !== undefined && lease.isUnder(claimed.fencing))
    if (held) lease.renewedAt = grid.now
    if (held && claimed !== undefined) listed?.delete(task.id)
    // Either the lease is on its way to the worker, or this is, and was said before the worker had it.
    const onItsWay = grid.now - lease.grantedAt < grid.options.deliveryGraceMs
    if (!held && !onItsWay) lapse(grid, task, { what: `worker ${worker.id} does not have it any more` })
  }
  if (listed !== undefined) stopStrangers(grid, worker, listed)
}

/** It takes no new tasks; what it only staged goes elsewhere. */
export function drain(grid: Grid, worker: Worker): void {
  if (isLive(worker)) ceaseLive(grid, worker)
  moveWorker(grid, worker, { move: 'drain', what: 'it takes no new tasks' })
  for (const task of heldTasks(worker)) {
    const { lease } = task
    if (!lease?.staged) continue
    const { fencing } = lease
    grid.effects.push({ kind: 'stop', task: task.id, worker: worker.id, fencing, why: 'recalled' })
    yieldTask(grid, task, 'its worker is leaving')
  }
  freeWorker(grid, worker)
}

export function resume(grid: Grid, worker: Worker): void {
  if (worker.state !== 'DRAINING') return
  worker.shutdownWhenEmpty = false
  moveWorker(grid, worker, { move: 'resume', what: 'it takes tasks again' })
  becomeLive(grid, worker)
}
