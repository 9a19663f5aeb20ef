import { type Fencing, fencingText } from '../../model/fencing.ts'
import type { AttemptRef, Instant } from '../model/events.ts'
import type { Worker } from '../workers/records.ts'
import { freeWorker, type WorkersState, watchWorker } from '../workers/worker.ts'
import type { AttemptLease } from './lease-table.ts'

/*
 * The server can end a lease by itself: it recalls a staged task, or a deadline passes. The worker still runs the
 * attempt until it has received the message and stopped the command, which takes a while on a busy machine. Until the
 * worker confirms the end, the attempt occupies its slot (or its staging place), so that the server does not lease an
 * occupied slot.
 */

/** Must be called before the lease is released. A pulling worker states itself how many tasks it can take. */
export function awaitConfirmation(grid: WorkersState, { worker, fencing, staged }: AttemptLease): void {
  if (worker !== undefined && !worker.pulls) addUnconfirmed(grid, worker, { fencing, staged })
}

export function addUnconfirmed(
  grid: WorkersState,
  worker: Worker,
  { fencing, staged }: { readonly fencing: Fencing; readonly staged: boolean },
): void {
  const key = fencingText(fencing)
  if (worker.pulls || worker.unconfirmed.has(key)) return
  const until = grid.now + grid.options.stopGraceMs
  worker.unconfirmed.set(key, { staged, until })
  if (staged) worker.unconfirmedStaged++
  else worker.unconfirmedSlots++
  watchWorker(grid, worker, until)
}

/** The worker reported the end of an attempt that has no lease. */
export function confirmEnd(grid: WorkersState, workerId: string, fencing: Fencing): void {
  const worker = grid.workers.get(workerId)
  if (worker !== undefined) drop(grid, worker, fencingText(fencing))
}

/** A heartbeat that lists the worker's attempts confirms the end of all others. */
export function confirmUnlisted(grid: WorkersState, worker: Worker, listed: Iterable<AttemptRef>): void {
  if (worker.unconfirmed.size === 0) return
  const held = new Set(Array.from(listed, ({ fencing }) => fencingText(fencing)))
  for (const [key, one] of worker.unconfirmed) {
    if (held.has(key)) one.until = grid.now + grid.options.stopGraceMs
    else drop(grid, worker, key)
  }
}

/** Removes the attempts whose confirmation is overdue. Called in a tick only. */
export function expireUnconfirmed(grid: WorkersState, worker: Worker): void {
  for (const [key, { until }] of worker.unconfirmed) if (until <= grid.now) drop(grid, worker, key)
}

export const nextUnconfirmedAt = ({ unconfirmed }: Worker): Instant =>
  Math.min(...Array.from(unconfirmed.values(), ({ until }) => until))

function drop(grid: WorkersState, worker: Worker, key: string): void {
  const one = worker.unconfirmed.get(key)
  if (one === undefined) return
  worker.unconfirmed.delete(key)
  if (one.staged) worker.unconfirmedStaged--
  else worker.unconfirmedSlots--
  clearRefusals(worker)
  freeWorker(grid, worker)
}

/** The worker has ended an attempt, or listed its attempts: it may have space for tasks that it rejected before. */
export function clearRefusals(worker: Worker): void {
  worker.refusesTasks = false
  worker.refusesStaging = false
}
