import type { Awaitable } from '../tasks/status.ts'
import type {
  AttemptReport,
  TaskLease,
  WorkerDescription,
  WorkerPulse,
  WorkerSession,
  WorkersAttempt,
  WorkerView,
} from './worker-session.ts'

/**
 * The calls of workers of all protocols. An attempt is named by the id in its lease; a malformed id is `invalid`. When
 * a call of the local engine returns, every message that it caused has been passed to the session or to the callback. A
 * driver in another process may pass them later, but before its promise resolves.
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
  /** Resolves when the worker may discard the attempt. */
  finished(attempt: WorkersAttempt, report: AttemptReport): Promise<'applied' | 'superseded'>
  /**
   * The worker returns the attempt: it is queued again, without counting as a fault. Returns false as `started` does.
   */
  returned(attempt: WorkersAttempt, why: Return): Awaitable<boolean>
  /** Returns false as `started` does. */
  output(printed: Printed): Awaitable<boolean>
  /** Returns the task of an attempt that this worker holds and has not ended; undefined for every other attempt. */
  held(attempt: WorkersAttempt): Awaitable<HeldTask | undefined>
  /** Acknowledges input events up to this number. */
  inputTaken(attempt: WorkersAttempt, number: number): void
  /** Reports a broken connection. Ignored when another session has replaced it. */
  disconnected(worker: string, session: WorkerSession): void
  /** Removes the worker: the attempts that it holds are queued again. */
  unregister(worker: string): Awaitable<boolean>
  list(): Awaitable<readonly WorkerView[]>
  /**
   * Returns the workers that the server lost in the last ten minutes and that have not registered again, as OFFLINE.
   */
  lost(): Awaitable<readonly WorkerView[]>
  /** Returns the attempt that this worker holds for the task of this operation, if it holds one. */
  attemptOf(worker: string, operation: string): Awaitable<HeldAttempt | undefined>
}

/** The calls of workers to the engine in this process. They return values where the port allows promises. */
export interface LocalWorkerService extends WorkerService {
  register(description: WorkerDescription, session: WorkerSession): void
  heartbeat(worker: string, pulse?: WorkerPulse): boolean
  started(worker: string, attemptId: string): boolean
  returned(attempt: WorkersAttempt, why: Return): boolean
  output(printed: Printed): boolean
  held(attempt: WorkersAttempt): HeldTask | undefined
  unregister(worker: string): boolean
  list(): readonly WorkerView[]
  lost(): readonly WorkerView[]
  attemptOf(worker: string, operation: string): HeldAttempt | undefined
}

export interface HeldAttempt {
  readonly attemptId: string
  readonly attempt: number
}

export interface Ask {
  readonly worker: string
  /** The maximum number of leases in one answer; default 1. */
  readonly tasks?: number
  /** After this time the answer is empty. Without it the poll waits until it is withdrawn. */
  readonly waitMs?: number
}

/** Why a worker returns an attempt. */
export interface Return {
  readonly what: string
  /** It had no free slot. */
  readonly noSlot?: boolean
}

export interface Printed extends WorkersAttempt {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
  /** The offset in its stream, if the worker sends offsets. */
  readonly at?: number | undefined
}

export type HeldTask = Pick<TaskLease, 'instance' | 'origin' | 'spec'>
