import { silentLog } from '../base/log.ts'
import { DEFAULT_OPTIONS } from '../scheduler/model/options.ts'
import { createScheduler } from '../scheduler/scheduler.ts'
import type { Recovered } from '../storage/journal/journal.ts'
import { dispatchAll } from './effects/dispatch.ts'
import { recordFailed, recordSucceeded } from './effects/record-outcome.ts'
import { journalRepair } from './recording/journal-repair.ts'
import { pendingWrites } from './recording/pending-writes.ts'
import { recorder } from './recording/recorder.ts'
import { namesAskedFor, type Reopened, reopen, restoreAll } from './restore-tasks.ts'
import { DEFAULTS, type EngineOptions } from './state/engine-options.ts'
import type { EngineState } from './state/engine-state.ts'
import { silentMeter } from './tasks/grid-meter.ts'
import { taskRegistry } from './tasks/task-registry.ts'
import { namedTimers } from './tasks/timers.ts'
import { waiters } from './watches/waiters.ts'
import { createWatches } from './watches/watches.ts'
import { formerLeases } from './workers/former-leases.ts'
import { lostWorkers } from './workers/lost-workers.ts'
import { workerLinks } from './workers/worker-links.ts'

/** Builds the engine's objects and restores the open tasks of the journal. */
export function openEngineState(options: EngineOptions, recovered: Recovered): EngineState {
  const tasks = recovered.tasks.map(reopen)
  const { journal, clock, newId, results, roots, meter = silentMeter, log = silentLog } = options
  const startedAt = clock.monotonic()
  const reconnectGraceMs = options.scheduler?.reconnectGraceMs ?? DEFAULT_OPTIONS.reconnectGraceMs
  const { epoch } = recovered
  const engine: EngineState = {
    journal,
    clock,
    newId,
    results,
    roots,
    meter,
    log,
    limits: { ...DEFAULTS.limits, ...options.limits },
    retentionMs: options.retentionMs ?? DEFAULTS.retentionMs,
    epoch,
    scheduler: schedulerOf(options, recovered, { tasks, startedAt }),
    reconnectUntil: epoch > 1 ? startedAt + reconnectGraceMs : startedAt,
    ...objectsOf(options, epoch, () => engine),
    namesOffered: new Set(recovered.namesOffered),
    keptOutputs: new Map(),
    dispatch(event) {
      if (event !== undefined) engine.events.push(event)
      dispatchAll(engine)
    },
    events: [],
    outward: [],
    isBusy: false,
    isClosing: false,
    now: clock.now(),
    instant: startedAt,
    tickAt: Number.POSITIVE_INFINITY,
  }
  restoreAll(engine, tasks)
  return engine
}

interface Start {
  readonly tasks: readonly Reopened[]
  readonly startedAt: number
}

function schedulerOf(options: EngineOptions, recovered: Recovered, { tasks, startedAt }: Start) {
  const { epoch } = recovered
  const known = options.scheduler?.namesOffered ?? []
  const names = new Set([...known, ...recovered.namesOffered, ...namesAskedFor(tasks)])
  return createScheduler({
    ...options.scheduler,
    epoch,
    startedAt,
    random: options.random,
    namesOffered: [...names],
  })
}

type Objects = Pick<
  EngineState,
  'live' | 'recorder' | 'writes' | 'repair' | 'watches' | 'waiters' | 'links' | 'lost' | 'formerLeases' | 'timers'
>

/** `engine` is called later only: the objects call back into the engine that they are part of. */
function objectsOf(options: EngineOptions, epoch: number, engine: () => EngineState): Objects {
  const { journal, clock, log = silentLog } = options
  const timers = namedTimers(clock)
  const writes = pendingWrites()
  const isClosing = (): boolean => engine().isClosing
  const graceMs = options.noWaiterGraceMs ?? DEFAULTS.noWaiterGraceMs
  const waiting = waiters({ clock, timers, graceMs, dispatch: (event) => engine().dispatch(event) })
  const records = recorder({
    journal,
    clock,
    timers,
    writes,
    isClosing,
    now: () => engine().now,
    succeeded: (call, late) => recordSucceeded(engine(), call, late),
    failed: (call, error) => recordFailed(engine(), call, error),
  })
  return {
    timers,
    writes,
    waiters: waiting,
    recorder: records,
    repair: journalRepair({
      clock,
      log,
      timers,
      isClosing,
      write(task) {
        records.mark(task)
        engine().dispatch()
      },
    }),
    live: taskRegistry({ epoch, onRemoved: waiting.forget }),
    watches: createWatches({ journal, log, waiters: waiting }),
    links: workerLinks(log),
    lost: lostWorkers(),
    formerLeases: formerLeases(),
  }
}
