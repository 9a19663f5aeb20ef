import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Registry } from 'prom-client'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { TaskTally } from '../../doors/grpc/grid-admin/options.ts'
import { createEngine, type LocalEngine } from '../../engine/engine.ts'
import { LANGUAGE_PROPERTY } from '../../model/language.ts'
import { IMAGELESS_PROPERTY } from '../../model/properties/image-need.ts'
import { TASK_FORM_PROPERTY } from '../../model/properties/task-form.ts'
import { pinnedRoots } from '../../services/execution/pinned-roots.ts'
import { actionResultsCache } from '../../services/execution/result-cache.ts'
import { sqliteJournal } from '../../storage/journal/sqlite/sqlite-journal.ts'
import type { Config } from '../config/config.ts'
import { instanceLimits } from '../config/http-limits.ts'
import { type CountingMeter, gridMeter } from '../metrics/grid.ts'
import { gridGauges } from '../metrics/grid-gauges.ts'
import { idsBy } from '../process/new-id.ts'
import { mustBeThere } from './lost-journal.ts'
import type { Storage } from './storage.ts'

export interface GridTools {
  readonly clock: Clock
  readonly log: Log
  readonly storage: Storage
  readonly registry: Registry
  /** Whether the worker of `windlass up` has not registered yet. */
  readonly isWorkerComing?: (() => boolean) | undefined
  readonly callbackSecret?: () => string | undefined
}

export interface OpenEngine {
  readonly engine: LocalEngine
  readonly tally: () => TaskTally
  /** Resolves when all pending writes are recorded. */
  close(): Promise<void>
}

/** Opens the engine over its journal, on this machine's disk. */
export async function openGridEngine(config: Config, tools: GridTools): Promise<OpenEngine> {
  const { clock, log, storage, registry } = tools
  const { scheduler, retry, retention_seconds, refuse_unknown_properties } = config.execution
  const folder = join(config.server.data_dir, 'journal')
  mkdirSync(folder, { recursive: true, mode: 0o700 }) // commands of other users must not read it
  mustBeThere(config.server)
  const journal = await sqliteJournal({ folder, owner: hostname(), pid: process.pid })
  const { meter, follow } = instrumentsOf(registry)
  const engine = await createEngine({
    journal,
    clock,
    log,
    newId: idsBy(clock),
    unnamedInstance: config.server.instance_name,
    random: Math.random,
    results: actionResultsCache({
      actionsOf: storage.actionsOf,
      commandsOf: (instance) => storage.ownResultsOf(instance).tasks,
    }),
    roots: pinnedRoots(storage.pins, storage.spaces),
    meter,
    retentionMs: retention_seconds * 1000,
    noWaiterGraceMs: scheduler.no_waiter_grace_seconds * 1000,
    scheduler: {
      ...schedulerOptions(scheduler),
      retry: retryOptions(retry),
      limits: instanceLimits(config.limits),
      refuseUnknownProperties: refuse_unknown_properties,
    },
  }).catch(async (error: unknown) => {
    await journal.close()
    throw error
  })
  follow(engine)
  return {
    engine,
    tally: meter.tally,
    async close() {
      await engine.close()
      await journal.close()
    },
  }
}

interface Instruments {
  readonly meter: CountingMeter
  /** From now on the gauges show this engine. */
  follow(engine: LocalEngine): void
}

const made = new WeakMap<Registry, Instruments>()

/** A registry accepts each name once, and an engine may be opened in several attempts. */
function instrumentsOf(registry: Registry): Instruments {
  const known = made.get(registry)
  if (known !== undefined) return known
  let followed: LocalEngine | undefined
  const instruments: Instruments = {
    meter: gridMeter(registry),
    follow(engine) {
      if (followed === undefined) gridGauges(registry, () => (followed ?? engine).figures())
      followed = engine
    },
  }
  made.set(registry, instruments)
  return instruments
}

const retryOptions = (set: Config['execution']['retry']) => ({
  maxRetries: set.max_retries,
  maxLostWorkers: set.max_lost_workers,
  firstDelayMs: set.first_delay_seconds * 1000,
  maxDelayMs: set.max_delay_seconds * 1000,
  onTimeout: set.retry_on_timeout,
  onFailure: set.retry_on_failure,
})

const schedulerOptions = (set: Config['execution']['scheduler']) => ({
  leaseMs: set.lease_duration_seconds * 1000,
  heartbeatTimeoutMs: set.heartbeat_timeout_seconds * 1000,
  degradeByLoad: set.degrade_by_load,
  maxQueued: set.max_queue_size,
  noWorkerGraceMs: set.no_worker_grace_seconds * 1000,
  poolGraceMs: Object.fromEntries(Object.entries(set.pool_grace_seconds).map(([key, grace]) => [key, grace * 1000])),
  reconnectGraceMs: set.reconnect_grace_seconds * 1000,
  strategy: set.strategy,
  limitsOf: Object.fromEntries(Object.entries(set.reserved_slots).map(([name, reserved]) => [name, { reserved }])),
  namesOffered: [TASK_FORM_PROPERTY, LANGUAGE_PROPERTY, IMAGELESS_PROPERTY], // workers may connect later
})
