import type { GridState } from './grid.ts'
import { failAttempt, yieldTask } from './leases/end-attempt.ts'
import { attachLease, detachLease } from './leases/grant-lease.ts'
import { currentLease, heldTasks, leaseEndsAt } from './leases/lease-table.ts'
import { addUnconfirmed } from './leases/unconfirmed-ends.ts'
import type { AttemptRef, Register } from './model/events.ts'
import { offeredAmounts } from './model/requirements.ts'
import { classFor } from './queue/matchmaking.ts'
import type { Task } from './queue/records.ts'
import { admit, removeWorker, stopUnknownAttempts } from './worker-events.ts'
import { Gauges } from './workers/gauges.ts'
import type { Worker } from './workers/records.ts'
import { moveWorker, setListed, watchWorker } from './workers/worker.ts'
import { sharedTotal } from './workers/worker-class.ts'

/** Registers a worker. If it was registered before, it keeps the attempts that it lists; its other attempts fail. */
export function registerWorker(grid: GridState, event: Register): void {
  const before = grid.workers.get(event.worker)
  const had = before === undefined ? [] : heldTasks(grid, before)
  if (before !== undefined) {
    for (const task of had) detachLease(grid, task, currentLease(grid, task))
    removeWorker(grid, before, 'it registered again')
  }
  const awaited = [...(grid.awaited.get(event.worker) ?? [])]
  grid.awaited.delete(event.worker)
  const worker = add(grid, event)
  const listed = new Map(event.running?.map((attempt) => [attempt.task, attempt]))
  for (const task of [...had, ...awaited]) {
    if (keeps(grid, worker, { task, listed })) continue
    const what = `worker ${worker.id} reconnected without the task`
    if (currentLease(grid, task)?.staged || awaited.includes(task)) yieldTask(grid, task, what)
    else failAttempt(grid, task, { what, lostWorker: worker.id })
  }
  // Unknown attempts occupy slots until the worker has ended them.
  for (const { fencing } of listed.values()) addUnconfirmed(grid, worker, { fencing, staged: false })
  stopUnknownAttempts(grid, worker, listed)
  if (!event.notReady) admit(grid, worker)
}

interface Claim {
  readonly task: Task
  readonly listed: Map<string, AttemptRef>
}

/** Whether the worker still runs the task under its current lease. If so, the lease is renewed. */
function keeps(grid: GridState, worker: Worker, { task, listed }: Claim): boolean {
  const lease = currentLease(grid, task)
  const claimed = listed.get(task.id)
  if (lease === undefined || claimed === undefined || !lease.isUnder(claimed.fencing)) return false
  listed.delete(task.id)
  lease.renewedAt = grid.now
  attachLease(task, lease, worker)
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

function add(grid: GridState, event: Register): Worker {
  const offer = { ...event, total: offeredAmounts(event.resources) }
  const own = classFor(grid, offer)
  const total = sharedTotal(own, offer.total)
  const gauges = new Gauges(grid.gauges, total, grid.now)
  const worker: Worker = {
    // The order of the fields in memory: first those that every decision reads or writes.
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
    lastMessageAt: grid.now,
    disconnectedAt: undefined,
    kept: false,
    freed: false,
    shutdownWhenEmpty: false,
    lookAt: Number.POSITIVE_INFINITY,
    turn: 0,
    openIn: undefined,
    classAt: -1,
    stagerAt: -1,
    health: gauges,
    total,
    openAt: -1,
    asked: 0,
    refusesTasks: false,
    refusesStaging: false,
    unconfirmed: new Map(),
    unconfirmedSlots: 0,
    unconfirmedStaged: 0,
  }
  grid.workers.set(worker.id, worker)
  grid.anyRegistered = true
  for (const { name } of event.properties) grid.namesOffered.add(name)
  setListed(own.workers, worker, { place: 'classAt', listed: true })
  grid.workerCounts.OFFLINE++
  moveWorker(grid, worker, { move: 'register', what: 'it registered' })
  watchWorker(grid, worker, grid.now + Math.min(grid.options.heartbeatTimeoutMs, grid.options.unhealthyAfterMs))
  return worker
}
