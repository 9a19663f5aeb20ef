import { attemptId } from '../../model/fencing.ts'
import { inputTaken } from '../inputs/input.ts'
import type { EngineState } from '../state/engine-state.ts'
import type { Awaitable } from '../tasks/awaitable.ts'
import { viewOfLink } from '../workers/worker-link.ts'
import type {
  AttemptReport,
  TaskLease,
  WorkerDescription,
  WorkerPulse,
  WorkerSession,
  WorkersAttempt,
  WorkerView,
} from '../workers/worker-session.ts'
import {
  finished,
  type HeldTask,
  heartbeat,
  held,
  output,
  type Printed,
  type Return,
  register,
  returned,
  started,
} from './attempts.ts'
import { type Ask, ask } from './poll.ts'

/**
 * The calls of workers, whichever protocol they speak. An attempt is named by the id that its lease came with; a malformed
 * id is `invalid`. When a call of the local engine returns, every message that it caused has been passed to the session
 * or to the callback. A driver in another process may pass them later, but before its promise resolves.
 */
export interface WorkerService {
  /** Registering a known id ends the old registration: its leases lapse unless they are listed as running. */
  register(description: WorkerDescription, session: WorkerSession): Awaitable<void>
  /** Returns false for an unknown worker: it has to register. */
  heartbeat(worker: string, pulse?: WorkerPulse): Awaitable<boolean>
  /** Polls for leases, for a worker that pulls. Returns a function that withdraws the poll. */
  ask(question: Ask, answer: (leases: readonly TaskLease[]) => void): () => void
  /** Returns false when the worker does not hold the attempt: then nothing has changed. */
  started(worker: string, attemptId: string): Awaitable<boolean>
  /** Resolves when the worker may forget the attempt. */
  finished(word: WorkersAttempt, report: AttemptReport): Promise<'applied' | 'superseded'>
  /** The worker returns the attempt: it is queued again, without counting as a fault. False as for `started`. */
  returned(word: WorkersAttempt, why: Return): Awaitable<boolean>
  /** False as for `started`. */
  output(printed: Printed): Awaitable<boolean>
  /** Returns the task of an attempt that this worker holds and has not ended; undefined for every other attempt. */
  held(word: WorkersAttempt): Awaitable<HeldTask | undefined>
  /** Acknowledges input events up to this number. */
  inputTaken(word: WorkersAttempt, number: number): void
  /** Reports a broken connection. Ignored when another session has taken its place. */
  disconnected(worker: string, session: WorkerSession): void
  /** Removes the worker: the attempts that it holds are queued again. */
  unregister(worker: string): Awaitable<boolean>
  list(): Awaitable<readonly WorkerView[]>
  /** Returns the workers that the server lost in the last ten minutes and that did not come back, as OFFLINE. */
  lost(): Awaitable<readonly WorkerView[]>
  /** Returns the attempt that this worker holds for the task of this operation, if it holds one. */
  attemptOf(worker: string, operation: string): Awaitable<HeldAttempt | undefined>
}

/** The calls of workers to the engine in this process, which answers at once. */
export interface LocalWorkerService extends WorkerService {
  register(description: WorkerDescription, session: WorkerSession): void
  heartbeat(worker: string, pulse?: WorkerPulse): boolean
  started(worker: string, attemptId: string): boolean
  returned(word: WorkersAttempt, why: Return): boolean
  output(printed: Printed): boolean
  held(word: WorkersAttempt): HeldTask | undefined
  unregister(worker: string): boolean
  list(): readonly WorkerView[]
  lost(): readonly WorkerView[]
  attemptOf(worker: string, operation: string): HeldAttempt | undefined
}

export interface HeldAttempt {
  readonly attemptId: string
  readonly attempt: number
}

export const workerService = (engine: EngineState): LocalWorkerService => ({
  register: (description, session) => register(engine, description, session),
  heartbeat: (worker, pulse) => heartbeat(engine, worker, pulse),
  ask: (question, answer) => ask(engine, question, answer),
  started: (worker, attemptId) => started(engine, worker, attemptId),
  finished: (word, report) => finished(engine, word, report),
  returned: (word, why) => returned(engine, word, why),
  output: (printed) => output(engine, printed),
  held: (word) => held(engine, word),
  inputTaken: (word, number) => inputTaken(engine, word, number),
  disconnected(worker, session) {
    const link = engine.links.find(worker)
    if (link?.session !== session) return
    link.isCutOff = true
    engine.dispatch({ kind: 'disconnected', worker })
  },
  unregister(worker) {
    const link = engine.links.find(worker)
    if (link === undefined) return false
    link.isLeaving = true
    engine.dispatch({ kind: 'unregister', worker })
    return true
  },
  list: () => views(engine),
  lost: () => engine.lost.views(engine.clock.now()),
  attemptOf: (worker, operation) => heldAttempt(engine, worker, operation),
})

function heldAttempt(engine: EngineState, worker: string, operation: string): HeldAttempt | undefined {
  const task = engine.live.operations.get(operation)?.task
  if (task?.worker !== worker || task.fencing === undefined || task.ending !== undefined) return undefined
  return { attemptId: attemptId(task.id, task.fencing), attempt: task.attempt }
}

function views(engine: EngineState): WorkerView[] {
  const leases = new Map<string, number>()
  for (const { worker, fencing, ending } of engine.live.tasks.values()) {
    if (worker !== undefined && fencing !== undefined && ending === undefined)
      leases.set(worker, (leases.get(worker) ?? 0) + 1)
  }
  return Array.from(engine.links.all(), (link) => viewOfLink(link, leases.get(link.description.worker) ?? 0))
}
