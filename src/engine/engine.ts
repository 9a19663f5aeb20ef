import { silentLog } from '../base/log.ts'
import type { InputEvent } from '../model/live-input.ts'
import { DEFAULT_OPTIONS } from '../scheduler/model/options.ts'
import { createScheduler } from '../scheduler/scheduler.ts'
import type { HistoryPage, HistoryQuery, Recovered } from '../storage/journal/journal.ts'
import { type CancelWish, cancel, hold, leave } from './cancelling.ts'
import { closeShell } from './closing.ts'
import { dispatchAll } from './dispatching.ts'
import { DEFAULTS, type EngineOptions } from './engine-options.ts'
import { everyOperation, type PlacedPage } from './every-operation.ts'
import { FormerLeases } from './former-leases.ts'
import { silentMeter } from './grid-meter.ts'
import { input } from './inputting.ts'
import {
  type EngineFigures,
  explain,
  figuresOf,
  find,
  listenOutput,
  listOperations,
  type OperationPage,
  openOperations,
} from './inquiring.ts'
import { LostWorkers } from './lost-workers.ts'
import { NameTable } from './name-table.ts'
import { namesAskedFor, reopen, restoreAll } from './opening.ts'
import type { OutputListener } from './output-ring.ts'
import { secure } from './recording.ts'
import { holdKeptOutputs, keepForgetting } from './retention.ts'
import { nothingToRecord, type Shell } from './shell.ts'
import type { OperationStatus } from './status.ts'
import type { Submission } from './submission.ts'
import { submit } from './submitting.ts'
import { Unwatched } from './unwatched.ts'
import { type Watcher, watch } from './watching.ts'
import { type WorkerDesk, workerDesk } from './worker-desk.ts'

/**
 * The grid as its doors see it. It speaks no protocol: what is to be run and what came of it are bytes. Operations are
 * known by name, whichever task they were merged into, and for as long as that task is kept.
 */
export interface Engine {
  /**
   * Resolves when the task is accepted as durably as it asked for, or over because the cache had it. A refusal is a
   * FaultError: `exhausted` with a time to come back, `unavailable`, or `invalid`.
   */
  submit(submission: Submission): Promise<OperationStatus>
  /** Resolves when all that was accepted outlives a power cut: before anybody is told of what was to be told late. */
  secure(): Promise<void>
  /** The answer ends it. Watching is no reference, but an operation that needs a waiter has one while it is watched. */
  watch(operation: string, watcher: Watcher): () => void
  cancel(operation: string, wish?: CancelWish): Promise<void>
  hold(operation: string): boolean
  leave(operation: string): boolean
  /** How it stands; undefined when nothing has that name. */
  find(operation: string): Promise<OperationStatus | undefined>
  /** Tasks on record, the newest first. */
  list(query: HistoryQuery, cursor?: string): Promise<HistoryPage>
  /** How each of them stands, by the first of its operations, for the price of one question. */
  listOperations(query: HistoryQuery, cursor?: string): Promise<OperationPage>
  /** Each operation for itself, those included that were merged into the task of another. */
  everyOperation(query: HistoryQuery, cursor?: string): Promise<PlacedPage>
  /** All operations that are not over: for doors that have to take up their work after a start. */
  operations(): Iterable<OperationStatus>
  /** In words, what it waits for, or what came of it. */
  why(operation: string): Promise<readonly string[]>
  /** What it prints while it runs; undefined when it does not run here. `wake` says that there is more to read. */
  listenOutput(operation: string, wake: () => void): OutputListener | undefined
  /**
   * Does something to a task while it runs: only for one that is interactive. What comes before its start waits for it.
   * Resolves when it has reached the program, or the task is over; a FaultError says why it never will: `absent`,
   * `invalid`, or `exhausted` when too much is on its way. What was given first arrives first.
   */
  input(operation: string, event: InputEvent): Promise<void>
  figures(): EngineFigures
  /** No new tasks for it; it is told to shut down once it is empty, if so wished. False when it is not there. */
  drainWorker(worker: string, wish?: { readonly shutdown?: boolean }): boolean
  resumeWorker(worker: string): boolean
  readonly workers: WorkerDesk
  /** Which start this is. */
  readonly epoch: number
  /** Takes nothing new, leases nothing, and resolves when all that was begun is on record. The journal stays open. */
  close(): Promise<void>
}

export async function createEngine(options: EngineOptions): Promise<Engine> {
  const shell = makeShell(options, await options.journal.recover())
  void holdKeptOutputs(shell)
  keepForgetting(shell)
  return {
    submit: (submission) => submit(shell, submission),
    secure: () => secure(shell),
    watch: (operation, watcher) => watch(shell, operation, watcher),
    cancel: (operation, wish) => cancel(shell, operation, wish),
    hold: (operation) => hold(shell, operation),
    leave: (operation) => leave(shell, operation),
    find: (operation) => find(shell, operation),
    list: (query, cursor) => shell.journal.list(query, cursor),
    listOperations: (query, cursor) => listOperations(shell, query, cursor),
    everyOperation: (query, cursor) => everyOperation(shell, query, cursor),
    operations: () => openOperations(shell),
    why: (operation) => explain(shell, operation),
    listenOutput: (operation, wake) => listenOutput(shell, operation, wake),
    input: (operation, event) => input(shell, operation, event),
    figures: () => figuresOf(shell),
    drainWorker(worker, { shutdown = false } = {}) {
      if (!shell.links.has(worker)) return false
      shell.dispatch({ kind: 'drain', worker, shutdown })
      return true
    },
    resumeWorker(worker) {
      if (!shell.links.has(worker)) return false
      shell.dispatch({ kind: 'resume', worker })
      return true
    },
    workers: workerDesk(shell),
    epoch: shell.epoch,
    close: () => closeShell(shell),
  }
}

function makeShell(options: EngineOptions, recovered: Recovered): Shell {
  const { epoch } = recovered
  const tasks = recovered.tasks.map(reopen)
  const { journal, clock, newId, random, results, roots, meter = silentMeter, log = silentLog } = options
  const startedAt = clock.monotonic()
  const { reconnectGraceMs = DEFAULT_OPTIONS.reconnectGraceMs, namesOffered = [] } = options.scheduler ?? {}
  const names = new Set([...namesOffered, ...recovered.namesOffered, ...namesAskedFor(tasks)])
  const scheduler = createScheduler({
    ...options.scheduler,
    epoch,
    startedAt,
    random,
    namesOffered: [...names],
  })
  const shell: Shell = {
    journal,
    clock,
    newId,
    results,
    roots,
    meter,
    log,
    limits: { ...DEFAULTS.limits, ...options.limits },
    noWaiterGraceMs: options.noWaiterGraceMs ?? DEFAULTS.noWaiterGraceMs,
    retentionMs: options.retentionMs ?? DEFAULTS.retentionMs,
    epoch,
    scheduler,
    reconnectUntil: epoch > 1 ? startedAt + reconnectGraceMs : startedAt,
    dispatch(event) {
      if (event !== undefined) shell.events.push(event)
      dispatchAll(shell)
    },
    events: [],
    isBusy: false,
    isClosing: false,
    now: clock.now(),
    instant: startedAt,
    tasks: new NameTable(),
    operations: new NameTable(),
    over: [],
    links: new Map(),
    formerLeases: new FormerLeases(),
    lost: new LostWorkers(),
    tasksMade: 0,
    ...nothingToRecord(),
    dueWatches: [],
    watches: 0,
    unwatched: new Unwatched(),
    keptOutputs: new Map(),
    namesOffered: new Set(recovered.namesOffered),
    timers: new Map(),
    tickAt: Number.POSITIVE_INFINITY,
  }
  restoreAll(shell, tasks)
  return shell
}
