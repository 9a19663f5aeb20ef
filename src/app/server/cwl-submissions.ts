import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Hono } from 'hono'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { workflowsDoor } from '../../doors/http/workflows/door.ts'
import type { LocalEngine } from '../../engine/engine.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import type { NetworkGrants } from '../../model/properties/network-grants.ts'
import { pinnedRoots } from '../../services/execution/pinned-roots.ts'
import { type RunLimits, threadDriver } from '../../services/workflows/driver/thread-driver.ts'
import { engineSteps } from '../../services/workflows/engine-steps.ts'
import { fileWorkflowStore } from '../../services/workflows/store/file-workflow-store.ts'
import { openWorkflowService } from '../../services/workflows/workflow-runs.ts'
import { stagersByScheme } from '../../stagers/by-scheme.ts'
import { casStager } from '../../stagers/cas-stager.ts'
import { idsBy } from '../process/new-id.ts'
import type { Storage } from './storage.ts'

export interface CwlWorkflowsOptions {
  readonly engine: LocalEngine
  readonly storage: Pick<Storage, 'instances' | 'pins' | 'spaces'>
  readonly clock: Clock
  readonly log: Log
  readonly dataDir: string
  readonly retentionMs: number
  readonly limits: RunLimits
  readonly grants: NetworkGrants
  readonly ending: AbortSignal
  readonly draining: AbortSignal
}

export interface CwlWorkflows {
  /** Routes for the HTTP server. */
  readonly door: Hono
  /** Called before the engine is closed. */
  close(): Promise<void>
}

const SOURCE = new URL('../cwl/driver-thread.ts', import.meta.url)
/** The same file in the published package. */
const FILE = import.meta.url.endsWith('.ts') ? SOURCE : new URL(SOURCE.href.replace(/\.ts$/, '.js'))
/** The maximum number of threads. They start with the first workflow run that needs them. */
const MOST_THREADS = 4
/** At least two, because a long document must not block the only thread. */
const LEAST_THREADS = 2

/** Opens workflows on this server: runs that were open when it stopped continue. */
export async function openCwlWorkflows(options: CwlWorkflowsOptions): Promise<CwlWorkflows> {
  const { engine, storage, clock, log, retentionMs, grants, ending, draining } = options
  const submissions = await openWorkflowService({
    store: fileWorkflowStore(join(options.dataDir, 'submissions')),
    driver: threadDriver({
      file: FILE,
      limits: options.limits,
      threads: Math.min(MOST_THREADS, Math.max(LEAST_THREADS, availableParallelism())),
      clock,
    }),
    grid: engineSteps({ engine, clock, grants }),
    blobsOf: (instance) => storage.instances(instance).blobs,
    stagerOf: (trees) => stagersByScheme({ cas: casStager(trees) }),
    roots: pinnedRoots(storage.pins, storage.spaces),
    clock,
    log,
    newId: idsBy(clock),
    retentionMs,
    epoch: engine.epoch,
  })
  const { instances } = storage
  const door = workflowsDoor({
    callerOf: () => LOCAL_CALLER,
    workflows: submissions,
    engine,
    instances,
    clock,
    log,
    newId: randomUUID,
    ending,
    draining,
  })
  return { door, close: submissions.close }
}
