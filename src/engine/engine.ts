import type { Caller } from '../model/caller.ts'
import type { InputEvent } from '../model/live-input.ts'
import type { HistoryPage, HistoryQuery } from '../storage/journal/journal.ts'
import { attemptCalls } from './attempt-calls.ts'
import { type CancelOptions, cancel, hold, leave } from './cancel.ts'
import { closeEngine } from './close-engine.ts'
import type { EngineOptions } from './engine-options.ts'
import { input } from './inputs.ts'
import { openEngine } from './open-engine.ts'
import { poll } from './poll.ts'
import {
  type EngineFigures,
  everyOperation,
  explain,
  figuresOf,
  listOperations,
  type OperationPage,
  openOperations,
  type PlacedPage,
} from './queries.ts'
import { registrationCalls } from './registration.ts'
import { holdKeptOutputs, keepForgetting } from './retention.ts'
import { submit } from './submit.ts'
import { type OutputListener, OutputRing } from './tasks/output-ring.ts'
import type { Awaitable, OperationStatus, Watcher } from './tasks/status.ts'
import type { TaskRequest } from './tasks/task-request.ts'
import { findStatus, watch } from './watches.ts'
import type { LocalWorkerService, WorkerService } from './workers/worker-service.ts'

/**
 * The port of the grid for services and doors. It is independent of protocols: task specs and results are bytes. An
 * operation is identified by its name until retention deletes its task, even if it was merged into the task of another
 * operation. Calls on behalf of a caller have that caller as their first argument. A driver of this port may be in
 * another process: every call returns an `Awaitable` or reports through its watcher.
 */
export interface Engine {
  /**
   * Resolves when the task is accepted with the requested durability, or ended because the cache had its result. A
   * refusal is a FaultError: `exhausted` with a retry delay, `unavailable`, or `invalid`.
   */
  submit(caller: Caller, request: TaskRequest): Promise<OperationStatus>
  /**
   * Resolves when every accepted task survives a power cut. Call it before a client is notified of a task with
   * `deferAck`.
   */
  secure(): Promise<void>
  /** Returns a function that ends the watch. An operation that needs a waiter counts a watch as one. */
  watch(caller: Caller, operation: string, watcher: Watcher): () => void
  cancel(caller: Caller, operation: string, options?: CancelOptions): Promise<void>
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
  /**
   * Returns the live output of a task; undefined when it does not run here. The engine calls `wake` when there is more.
   */
  listenOutput(caller: Caller, operation: string, wake: () => void): Awaitable<OutputListener | undefined>
  /**
   * Sends an input event to an interactive task. Events before its start wait for the start. Resolves when the event
   * has reached the program, or when the task has ended; rejects with a FaultError: `absent`, `invalid`, or `exhausted`
   * when too much input is unread. Events arrive in the order of the calls.
   */
  input(caller: Caller, operation: string, event: InputEvent): Promise<void>
  figures(): Awaitable<EngineFigures>
  /**
   * Assigns no new tasks to the worker. With `shutdown` it is ordered to shut down when it has no tasks. Returns false
   * for an unknown worker.
   */
  drainWorker(caller: Caller, worker: string, options?: WorkerDrain): Awaitable<boolean>
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

/** The engine in this process. It returns a value where the port allows a promise. */
export interface LocalEngine extends Engine {
  hold(caller: Caller, operation: string): boolean
  leave(caller: Caller, operation: string): boolean
  operations(): Iterable<OperationStatus>
  listenOutput(caller: Caller, operation: string, wake: () => void): OutputListener | undefined
  figures(): EngineFigures
  drainWorker(caller: Caller, worker: string, options?: WorkerDrain): boolean
  resumeWorker(caller: Caller, worker: string): boolean
  readonly workers: LocalWorkerService
  /** Refuses new tasks, except for steps of workflow runs. Accepted tasks continue. */
  refuseTasks(): void
}

export async function createEngine(options: EngineOptions): Promise<LocalEngine> {
  const engine = await openEngine(options)
  void holdKeptOutputs(engine)
  keepForgetting(engine)
  return {
    submit: (_caller, request) => submit(engine, request),
    async secure() {
      await engine.journal.record([{ kind: 'offered', names: [] }], 'power') // an empty fact: only its sync matters
    },
    watch: (_caller, operation, watcher) => watch(engine, operation, watcher),
    cancel: (_caller, operation, cancelOptions) => cancel(engine, operation, cancelOptions),
    hold: (_caller, operation) => hold(engine, operation),
    leave: (_caller, operation) => leave(engine, operation),
    find: (_caller, operation) => findStatus(engine, operation),
    list: (_caller, query, cursor) => engine.journal.list(query, cursor),
    listOperations: (_caller, query, cursor) => listOperations(engine, query, cursor),
    everyOperation: (_caller, query, cursor) => everyOperation(engine, query, cursor),
    operations: () => openOperations(engine),
    why: (_caller, operation) => explain(engine, operation),
    listenOutput(_caller, operation, wake) {
      const task = engine.live.operations.get(operation)?.task
      if (task === undefined || task.record === 'concluded') return undefined
      task.output ??= new OutputRing(engine.limits.outputBytes)
      return task.output.listen(wake)
    },
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
    workers: {
      ...registrationCalls(engine),
      ...attemptCalls(engine),
      ask: (question, answer) => poll(engine, question, answer),
    },
    epoch: engine.epoch,
    refuseTasks() {
      engine.isDraining = true
    },
    close: () => closeEngine(engine),
  }
}
