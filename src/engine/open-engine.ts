import { silentLog } from '../base/log.ts'
import { DEFAULT_OPTIONS } from '../scheduler/model/options.ts'
import { createScheduler } from '../scheduler/scheduler.ts'
import type { OpenTask, Recovered } from '../storage/journal/journal.ts'
import { dispatchAll } from './dispatch.ts'
import { DEFAULTS, type EngineOptions } from './engine-options.ts'
import { type EngineState, namedTimers, pendingWrites } from './engine-state.ts'
import { endUnreadable, restoreTasks } from './restore-tasks.ts'
import { silentMeter } from './tasks/grid-meter.ts'
import { taskRegistry } from './tasks/task-registry.ts'
import { formerLeases } from './workers/former-leases.ts'
import { lostWorkers } from './workers/lost-workers.ts'
import { workerLinks } from './workers/worker-links.ts'

/** Builds the state of the engine and restores the open tasks of the journal, in batches as the journal reads them. */
export async function openEngine(options: EngineOptions): Promise<EngineState> {
  const unreadable: OpenTask[] = []
  let engine: EngineState | undefined
  const restore = (part: Recovered): EngineState => {
    engine ??= engineState(options, part)
    unreadable.push(...restoreTasks(engine, part.tasks))
    return engine
  }
  const opened = restore(await options.journal.recover(restore))
  for (const task of unreadable) endUnreadable(opened, task)
  opened.dispatch() // writes the facts of restored tasks: the journal accepts none before it is recovered
  return opened
}

function engineState(options: EngineOptions, recovered: Recovered): EngineState {
  const { journal, clock, newId, results, roots, meter = silentMeter, log = silentLog } = options
  const { epoch } = recovered
  const startedAt = clock.monotonic()
  const reconnectGraceMs = options.scheduler?.reconnectGraceMs ?? DEFAULT_OPTIONS.reconnectGraceMs
  const engine: EngineState = {
    journal,
    clock,
    newId,
    unnamedInstance: options.unnamedInstance ?? '',
    results,
    roots,
    meter,
    log,
    limits: { ...DEFAULTS.limits, ...options.limits },
    retentionMs: options.retentionMs ?? DEFAULTS.retentionMs,
    noWaiterGraceMs: options.noWaiterGraceMs ?? DEFAULTS.noWaiterGraceMs,
    epoch,
    scheduler: schedulerOf(options, recovered, startedAt),
    reconnectUntil: epoch > 1 ? startedAt + reconnectGraceMs : startedAt,
    live: taskRegistry(epoch),
    links: workerLinks(log),
    lost: lostWorkers(),
    formerLeases: formerLeases(),
    timers: namedTimers(clock),
    writes: pendingWrites(),
    namesOffered: new Set(recovered.namesOffered),
    keptOutputs: new Map(),
    recordHooks: [],
    startedTasks: [],
    journalTrouble: undefined,
    unsettled: new Set(),
    watchCount: 0,
    dueWatches: [],
    dispatch(event) {
      if (event !== undefined) engine.events.push(event)
      dispatchAll(engine)
    },
    events: [],
    outward: [],
    isBusy: false,
    isDraining: false,
    isClosing: false,
    now: clock.now(),
    instant: startedAt,
    tickAt: Number.POSITIVE_INFINITY,
  }
  return engine
}

function schedulerOf(options: EngineOptions, recovered: Recovered, startedAt: number) {
  const known = options.scheduler?.namesOffered ?? []
  return createScheduler({
    ...options.scheduler,
    epoch: recovered.epoch,
    startedAt,
    random: options.random,
    namesOffered: [...known, ...recovered.namesOffered],
  })
}
