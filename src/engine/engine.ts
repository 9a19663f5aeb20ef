import type { Caller } from '../model/caller.ts'
import type { InputEvent } from '../model/live-input.ts'
import type { HistoryPage, HistoryQuery } from '../storage/journal/journal.ts'
import { closeEngine } from './close-engine.ts'
import { input } from './inputs/input.ts'
import { openEngineState } from './open-engine-state.ts'
import { type CancelOptions, cancel, hold, leave } from './requests/cancel.ts'
import { everyOperation, type PlacedPage } from './requests/every-operation.ts'
import {
  type EngineFigures,
  explain,
  figuresOf,
  find,
  listenOutput,
  listOperations,
  type OperationPage,
  openOperations,
} from './requests/queries.ts'
import { submit } from './requests/submit.ts'
import { holdKeptOutputs, keepForgetting } from './retention.ts'
import type { EngineOptions } from './state/engine-options.ts'
import type { Awaitable } from './tasks/awaitable.ts'
import type { Watcher } from './tasks/live-task.ts'
import type { OutputListener } from './tasks/output-ring.ts'
import type { OperationStatus } from './tasks/status.ts'
import type { TaskRequest } from './tasks/task-request.ts'
import { type LocalWorkerService, type WorkerService, workerService } from './worker-calls/worker-service.ts'

/**
 * The grid as services and doors use it. It speaks no protocol: task specs and results are bytes. An operation is known by
 * its name, also after it was merged into the task of another, until retention deletes that task. Calls that act for a
 * caller take that caller first. A driver of this port may be in another process: every call returns an `Awaitable` or
 * reports through the watcher that it was given.
 */
export interface Engine {
  /**
   * Resolves when the task is accepted with the durability that it asked for, or ended because the cache had its result. A
   * refusal is a FaultError: `exhausted` with a time to retry after, `unavailable`, or `invalid`.
   */
  submit(caller: Caller, submission: TaskRequest): Promise<OperationStatus>
  /** Resolves when every accepted task survives a power cut: before a client learns of a task with `isToldLate`. */
  secure(): Promise<void>
  /** Returns a function that ends the watch. An operation that needs a waiter counts a watch as one. */
  watch(caller: Caller, operation: string, watcher: Watcher): () => void
  cancel(caller: Caller, operation: string, wish?: CancelOptions): Promise<void>
  hold(caller: Caller, operation: string): Awaitable<boolean>
  leave(caller: Caller, operation: string): Awaitable<boolean>
  /** Returns undefined when no operation has that name. */
  find(caller: Caller, operation: string): Promise<OperationStatus | undefined>
  /** Returns recorded tasks, the newest first. */
  list(caller: Caller, query: HistoryQuery, cursor?: string): Promise<HistoryPage>
  /** Returns the status of each task's first operation, with one journal query per page. */
  listOperations(caller: Caller, query: HistoryQuery, cursor?: string): Promise<OperationPage>
  /** Returns every operation, including those that were merged into the task of another. */
  everyOperation(caller: Caller, query: HistoryQuery, cursor?: string): Promise<PlacedPage>
  /** Returns all operations that have not ended: services resume their work on them after a start. */
  operations(): Iterable<OperationStatus> | AsyncIterable<OperationStatus>
  /** Explains in sentences why the operation waits, or how it ended. */
  why(caller: Caller, operation: string): Promise<readonly string[]>
  /** Returns the live output of a task; undefined when it does not run here. The engine calls `wake` when there is more. */
  listenOutput(caller: Caller, operation: string, wake: () => void): Awaitable<OutputListener | undefined>
  /**
   * Sends an input event to an interactive task. Events before its start wait for the start. Resolves when the event has
   * reached the program, or when the task has ended; rejects with a FaultError: `absent`, `invalid`, or `exhausted` when
   * too much input is unread. Events arrive in the order of the calls.
   */
  input(caller: Caller, operation: string, event: InputEvent): Promise<void>
  figures(): Awaitable<EngineFigures>
  /** Assigns no new tasks to the worker; with `shutdown` it is ordered to shut down when it is empty. False: unknown. */
  drainWorker(caller: Caller, worker: string, wish?: WorkerDrain): Awaitable<boolean>
  resumeWorker(caller: Caller, worker: string): Awaitable<boolean>
  readonly workers: WorkerService
  /** The number of this start of the server. */
  readonly epoch: number
  /** Refuses new tasks, grants no leases, and resolves when all pending writes are recorded. The journal stays open. */
  close(): Promise<void>
}

export interface WorkerDrain {
  readonly shutdown?: boolean
}

/** The engine in this process: it answers at once where the port allows an answer later. */
export interface LocalEngine extends Engine {
  hold(caller: Caller, operation: string): boolean
  leave(caller: Caller, operation: string): boolean
  operations(): Iterable<OperationStatus>
  listenOutput(caller: Caller, operation: string, wake: () => void): OutputListener | undefined
  figures(): EngineFigures
  drainWorker(caller: Caller, worker: string, wish?: WorkerDrain): boolean
  resumeWorker(caller: Caller, worker: string): boolean
  readonly workers: LocalWorkerService
}

export async function createEngine(options: EngineOptions): Promise<LocalEngine> {
  const engine = openEngineState(options, await options.journal.recover())
  void holdKeptOutputs(engine)
  keepForgetting(engine)
  return {
    submit: (_caller, submission) => submit(engine, submission),
    async secure() {
      await engine.journal.record([{ kind: 'offered', names: [] }], 'power') // an empty fact: only its sync matters
    },
    watch: (_caller, operation, watcher) =>
      engine.watches.watch(operation, engine.live.operations.get(operation), watcher),
    cancel: (_caller, operation, wish) => cancel(engine, operation, wish),
    hold: (_caller, operation) => hold(engine, operation),
    leave: (_caller, operation) => leave(engine, operation),
    find: (_caller, operation) => find(engine, operation),
    list: (_caller, query, cursor) => engine.journal.list(query, cursor),
    listOperations: (_caller, query, cursor) => listOperations(engine, query, cursor),
    everyOperation: (_caller, query, cursor) => everyOperation(engine, query, cursor),
    operations: () => openOperations(engine),
    why: (_caller, operation) => explain(engine, operation),
    listenOutput: (_caller, operation, wake) => listenOutput(engine, operation, wake),
    input: (_caller, operation, event) => input(engine, operation, event),
    figures: () => figuresOf(engine),
    drainWorker(_caller, worker, { shutdown = false } = {}) {
      if (engine.links.find(worker) === undefined) return false
      engine.dispatch({ kind: 'drain', worker, shutdown })
      return true
    },
    resumeWorker(_caller, worker) {
      if (engine.links.find(worker) === undefined) return false
      engine.dispatch({ kind: 'resume', worker })
      return true
    },
    workers: workerService(engine),
    epoch: engine.epoch,
    close: () => closeEngine(engine),
  }
}
