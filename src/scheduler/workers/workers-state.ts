import type { WorkerState } from '../../model/worker-state.ts'
import type { EventContext, TimerSink } from '../model/context.ts'
import { WORKER_MOVES, type WorkerMove } from '../model/worker-machine.ts'
import type { Affinity } from './affinity.ts'
import type { GaugeTable } from './gauges.ts'
import type { Worker, WorkerClass } from './worker.ts'

export interface WorkerDue {
  readonly look: 'worker'
  readonly worker: Worker
}

/** The scheduler's state that concerns workers. */
export interface WorkersState extends EventContext {
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

/** Marks a worker that has free space, or otherwise must be looked at, for the end of the current event. */
export function freeWorker(grid: WorkersState, worker: Worker): void {
  if (worker.freed) return
  worker.freed = true
  grid.freed.push(worker)
}
