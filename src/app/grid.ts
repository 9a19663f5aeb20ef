import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import { FaultError } from '../base/fault.ts'
import type { Log } from '../base/log.ts'
import { actionResultsCache } from '../doors/execution/action-results-cache.ts'
import { executionDoor } from '../doors/execution/execution-door.ts'
import { keepInputs } from '../doors/execution/kept-inputs.ts'
import { pinnedRoots } from '../doors/execution/pinned-roots.ts'
import { gridAdmin } from '../doors/grid-admin/grid-admin.ts'
import { tallied } from '../doors/grid-admin/task-tally.ts'
import { type LogStreams, logStreams } from '../doors/log-streams/log-streams.ts'
import { workersDoor } from '../doors/workers/grpc.ts'
import { createEngine } from '../engine/engine.ts'
import type { Service } from '../grpc/service.ts'
import { TASK_FORM_PROPERTY } from '../model/task-form.ts'
import { sqliteJournal } from '../storage/journal/sqlite/sqlite-journal.ts'
import type { Config } from './config.ts'
import { gridGauges, gridMeter } from './metrics-grid.ts'
import { newId } from './new-id.ts'
import type { Storage } from './storage.ts'

/** What runs tasks: the engine over its journal, and the doors to it. */
export interface Grid {
  readonly services: readonly Service[]
  /** What tasks print, for whoever reads it by ByteStream. */
  readonly logs: LogStreams
  /** Workers are asked to look for the server elsewhere, or again later; they are not taken for gone. */
  leave(): void
  /** Resolves when all that was begun is on record. */
  close(): Promise<void>
}

export interface GridTools {
  readonly clock: Clock
  readonly log: Log
  readonly storage: Storage
  readonly registry: Registry
}

/** A disk that is full keeps the grid from its journal, and must not keep anybody from the cache. */
export async function openGridIfPossible(config: Config, tools: GridTools): Promise<Grid | undefined> {
  if (!config.capabilities.exec_enabled) return undefined
  try {
    return await openGrid(config, tools)
  } catch (error) {
    if (!(error instanceof FaultError) || error.fault.kind !== 'exhausted') throw error
    tools.log.error(
      { err: error },
      'no space for the journal: nothing is executed until a start with space on the disk',
    )
    return undefined
  }
}

async function openGrid(config: Config, { clock, log, storage, registry }: GridTools): Promise<Grid> {
  const { scheduler, retention_seconds } = config.execution
  const folder = join(config.server.data_dir, 'journal')
  mkdirSync(folder, { recursive: true, mode: 0o700 }) // commands of other users have no business there
  const journal = await sqliteJournal({ folder, owner: hostname(), pid: process.pid })
  const { meter, tally } = tallied(gridMeter(registry))
  const engine = await createEngine({
    journal,
    clock,
    log,
    newId: () => newId(clock.now),
    random: Math.random,
    results: actionResultsCache(storage.actionsOf),
    roots: pinnedRoots(storage.pins, storage.spaces),
    meter,
    retentionMs: retention_seconds * 1000,
    noWaiterGraceMs: scheduler.no_waiter_grace_seconds * 1000,
    scheduler: schedulerOptions(scheduler),
  }).catch(async (error: unknown) => {
    await journal.close()
    throw error
  })
  gridGauges(registry, engine.figures)
  const ending = new AbortController()
  const longPollMs = scheduler.long_poll_timeout_seconds * 1000
  const { instances } = storage
  const logs = logStreams({ engine, instances, clock, newId: randomUUID, ending: ending.signal })
  const inputs = keepInputs({ engine, instances, clock, log })
  return {
    logs,
    services: [
      ...executionDoor({ engine, instances, clock, logStreams: logs.namesFor }),
      ...logs.services,
      ...workersDoor({ desk: engine.workers, clock, longPollMs, ending: ending.signal }),
      gridAdmin({ engine, clock, tally, ending: ending.signal }),
    ],
    leave: () => ending.abort(),
    async close() {
      inputs.stop()
      await engine.close()
      await journal.close()
    },
  }
}

const schedulerOptions = (set: Config['execution']['scheduler']) => ({
  leaseMs: set.lease_duration_seconds * 1000,
  heartbeatTimeoutMs: set.heartbeat_timeout_seconds * 1000,
  maxQueued: set.max_queue_size,
  noWorkerGraceMs: set.no_worker_grace_seconds * 1000,
  reconnectGraceMs: set.reconnect_grace_seconds * 1000,
  strategy: set.strategy,
  namesOffered: [TASK_FORM_PROPERTY], // nobody has come yet is no reason to refuse
})
