import { type Fencing, fencingText } from '../../model/fencing.ts'
import { freeWorker, type GridState } from '../grid.ts'
import type { Attempt, Instant } from '../model/events.ts'
import type { Worker } from '../workers/worker.ts'
import { watchWorker } from '../workers/worker-watch.ts'
import type { AttemptLease } from './lease.ts'

/*
 * The server can end a lease by itself: it recalls a staged task, or a time is up. The worker still has the attempt until
 * it has received the message and ended the command, which takes a while on a busy machine. Until it confirms that, the
 * attempt takes its slot (or its staging credit), so that the server leases no slot that it does not know to be free.
 */

/** An attempt without a lease that its worker may still have. */
export interface Unconfirmed {
  readonly staged: boolean
  /** A worker that neither reports the end nor lists its attempts is taken at its word after this time. */
  until: Instant
}

/** The part of a worker that this file changes. */
export interface UnconfirmedEnds {
  readonly unconfirmed: Map<string, Unconfirmed>
  /** How many of them take a slot, and how many a staging credit. */
  unconfirmedSlots: number
  unconfirmedStaged: number
}

export const noUnconfirmed = (): UnconfirmedEnds => ({
  unconfirmed: new Map(),
  unconfirmedSlots: 0,
  unconfirmedStaged: 0,
})

/** To be called before the lease is released. A worker that asks for tasks says itself how many it has room for. */
export function awaitConfirmation(grid: GridState, { worker, fencing, staged }: AttemptLease): void {
  if (worker !== undefined && !worker.pulls) addUnconfirmed(grid, worker, { fencing, staged })
}

export function addUnconfirmed(
  grid: GridState,
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

/** The worker reported the end of an attempt that it has no lease for. */
export function confirmEnd(grid: GridState, workerId: string, fencing: Fencing): void {
  const worker = grid.workers.get(workerId)
  if (worker !== undefined) drop(grid, worker, fencingText(fencing))
}

/** A heartbeat that lists the attempts of a worker confirms the end of all others. */
export function confirmUnlisted(grid: GridState, worker: Worker, listed: Iterable<Attempt>): void {
  if (worker.unconfirmed.size === 0) return
  const held = new Set(Array.from(listed, ({ fencing }) => fencingText(fencing)))
  for (const [key, one] of worker.unconfirmed) {
    if (held.has(key)) one.until = grid.now + grid.options.stopGraceMs
    else drop(grid, worker, key)
  }
}

/** In a tick only. */
export function expireUnconfirmed(grid: GridState, worker: Worker): void {
  for (const [key, { until }] of worker.unconfirmed) if (until <= grid.now) drop(grid, worker, key)
}

export const nextUnconfirmedAt = ({ unconfirmed }: Worker): Instant =>
  Math.min(...Array.from(unconfirmed.values(), ({ until }) => until))

function drop(grid: GridState, worker: Worker, key: string): void {
  const one = worker.unconfirmed.get(key)
  if (one === undefined) return
  worker.unconfirmed.delete(key)
  if (one.staged) worker.unconfirmedStaged--
  else worker.unconfirmedSlots--
  clearRefusals(worker)
  freeWorker(grid, worker)
}

/** The worker has ended something, or says anew what it holds: what it refused before, it may have room for now. */
export function clearRefusals(worker: Worker): void {
  worker.refusesTasks = false
  worker.refusesStaging = false
}
