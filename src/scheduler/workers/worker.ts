import type { WorkerState } from '../../model/worker-state.ts'
import type { Effect } from '../model/effects.ts'
import type { Instant } from '../model/events.ts'
import type { SchedulerOptions } from '../model/options.ts'
import { WORKER_MOVES, type WorkerMove } from '../model/worker-machine.ts'
import type { Affinity } from './affinity.ts'
import type { GaugeTable } from './gauges.ts'
import type { OpenWorkers, Worker, WorkerClass } from './records.ts'
import { openWorkersFor } from './worker-class.ts'

/**
 * Accepts timers. Each layer adds its own kind of timer; `tick.ts` handles all of them. Timers are never removed: the
 * handler checks whether the timer still applies, so renewing a lease costs nothing here.
 */
export interface TimerSink<Due> {
  push(at: Instant, due: Due): void
}

export interface WorkerDue {
  readonly look: 'worker'
  readonly worker: Worker
}

/** The scheduler's state that concerns workers, with the options and the time and effects of the current event. */
export interface WorkersState {
  readonly options: SchedulerOptions
  now: Instant
  effects: Effect[]
  readonly workers: Map<string, Worker>
  readonly workerCounts: Record<WorkerState, number>
  readonly classes: Map<string, WorkerClass>
  /** Classes without workers, the one that lost its last worker first in front. */
  readonly idleClasses: Set<WorkerClass>
  classesMade: number
  /** The number of workers with a free slot. */
  openWorkers: number
  /** Property names that a worker has ever offered. */
  readonly namesOffered: Set<string>
  anyRegistered: boolean
  readonly affinity: Affinity
  readonly gauges: GaugeTable
  /** Workers to which the current event has given free space and which have not been offered tasks yet. */
  readonly freed: Worker[]
  /** Pulling workers that the current event leased tasks to: this answers their request. */
  readonly answered: Worker[]
  readonly timers: TimerSink<WorkerDue>
}

/** Applies a move of the worker's state table, and reports the new state as an effect. */
export function moveWorker(
  grid: WorkersState,
  worker: Worker,
  { move, what }: { move: WorkerMove; what: string },
): void {
  const next = WORKER_MOVES[worker.state][move]
  if (next === undefined) throw new Error(`a worker in state ${worker.state} has no move ${move}`)
  grid.workerCounts[worker.state]--
  grid.workerCounts[next]++
  worker.state = next
  grid.effects.push({ kind: 'worker', worker: worker.id, state: next, what })
}

/** Marks a worker that has free space, or must be reviewed for another reason, for the end of the current event. */
export function freeWorker(grid: WorkersState, worker: Worker): void {
  if (worker.freed) return
  worker.freed = true
  grid.freed.push(worker)
}

/** Sets the worker's timer. A worker has one timer, for the earliest deadline of the worker and of its leases. */
export function watchWorker(grid: WorkersState, worker: Worker, by: Instant): void {
  if (by >= worker.lookAt) return
  worker.lookAt = by
  grid.timers.push(by, { look: 'worker', worker })
}

/** When the worker is considered lost if it sends nothing until then. */
export const lostAt = ({ options }: WorkersState, { lastMessageAt, disconnectedAt }: Worker): Instant =>
  Math.min(
    lastMessageAt + options.heartbeatTimeoutMs,
    disconnectedAt === undefined ? Number.POSITIVE_INFINITY : disconnectedAt + options.disconnectGraceMs,
  )

/** False when the worker was removed, or has registered again as a new object. */
export const isRegistered = ({ classAt }: Worker): boolean => classAt >= 0

/** Connected, admitted, and not draining. */
export const takesTasks = ({ state, disconnectedAt }: Worker): boolean =>
  disconnectedAt === undefined && (state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED')

/** Slots in use, including those of attempts whose end is not confirmed. */
const takenSlots = ({ used, unconfirmedSlots }: Worker): number => used + unconfirmedSlots

export const loadOf = ({ used, slots, health }: Worker): number => Math.max(used / slots, health.load)

/** The slots that the worker may use: a degraded worker gets only a part of them. */
const slotsFor = ({ options }: WorkersState, { slots, state }: Worker): number =>
  state === 'DEGRADED' ? Math.max(1, Math.floor(slots * options.degradedShare)) : slots

export const hasSlot = (grid: WorkersState, worker: Worker): boolean =>
  takesTasks(worker) &&
  !worker.refusesTasks &&
  takenSlots(worker) < slotsFor(grid, worker) &&
  (!worker.pulls || worker.asked > 0)

/** The number of slots that any task may use now. */
export const freeSlots = (grid: WorkersState, worker: Worker): number =>
  hasSlot(grid, worker) && !worker.kept ? slotsFor(grid, worker) - takenSlots(worker) : 0

export const mayStage = (grid: WorkersState, worker: Worker): boolean =>
  worker.staged + worker.unconfirmedStaged < worker.prefetch &&
  !worker.refusesStaging &&
  takesTasks(worker) &&
  !worker.kept &&
  (worker.refusesTasks || takenSlots(worker) >= slotsFor(grid, worker))

/** Updates the worker's state and its membership in the lists from which workers are chosen. */
export function refreshWorker(grid: WorkersState, worker: Worker): void {
  if (worker.state === 'ONLINE' && takenSlots(worker) >= worker.slots)
    moveWorker(grid, worker, { move: 'fill', what: 'all slots are taken' })
  else if (worker.state === 'BUSY' && takenSlots(worker) < worker.slots)
    moveWorker(grid, worker, { move: 'free', what: 'a slot is free' })
  const open = hasSlot(grid, worker) && !worker.kept
  listOpen(grid, worker, open ? openWorkersFor(worker.class, worker.free) : undefined)
  const stages = mayStage(grid, worker)
  if (stages !== worker.stagerAt >= 0) setListed(worker.class.stagers, worker, { place: 'stagerAt', listed: stages })
}

function listOpen(grid: WorkersState, worker: Worker, openIn: OpenWorkers | undefined): void {
  const before = worker.openIn
  if (before === openIn) return
  worker.openIn = openIn
  if (before === undefined) grid.openWorkers++
  else setListed(before.workers, worker, { place: 'openAt', listed: false })
  if (openIn === undefined) grid.openWorkers--
  else setListed(openIn.workers, worker, { place: 'openAt', listed: true })
}

type Place = 'classAt' | 'openAt' | 'stagerAt'

/** Adds the worker to a list of its class, or removes it; the last worker of the list moves into the gap. */
export function setListed(list: Worker[], worker: Worker, { place, listed }: { place: Place; listed: boolean }): void {
  const at = worker[place]
  if (listed === at >= 0) return
  if (listed) {
    worker[place] = list.push(worker) - 1
    return
  }
  const last = list.pop() as Worker
  if (last !== worker) {
    list[at] = last
    last[place] = at
  }
  worker[place] = -1
}
