import { randomUUID } from 'node:crypto'
import type { Hono } from 'hono'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { executionDoor } from '../../doors/grpc/execution/door.ts'
import { gridAdmin } from '../../doors/grpc/grid-admin/door.ts'
import { type LogStreams, logStreams } from '../../doors/grpc/logs/door.ts'
import { workersDoor } from '../../doors/grpc/workers/door.ts'
import type { WebSocketRoute } from '../../doors/http/server/web-sockets.ts'
import { httpWorkersDoor } from '../../doors/http/workers/door.ts'
import { websocketWorkers } from '../../doors/websocket/workers/door.ts'
import type { LocalEngine } from '../../engine/engine.ts'
import type { Service } from '../../grpc/service.ts'
import { type NetworkGrants, networkGrants } from '../../model/properties/network-grants.ts'
import { keepInputs } from '../../services/execution/kept-inputs.ts'
import { keptStages } from '../../services/execution/kept-stages.ts'
import { reportCheck } from '../../services/workers/report-check.ts'
import type { Config } from '../config/config.ts'
import { runLimits } from '../config/cwl.ts'
import { openCodeDoor } from './code-door.ts'
import { openCwlWorkflows } from './cwl-submissions.ts'
import { type GridTools, openGridEngine } from './grid-engine.ts'

/** The components that run tasks: the engine over its journal, and its doors. */
export interface Grid {
  readonly services: readonly Service[]
  /** The HTTP routes. */
  readonly doors: readonly Hono[]
  /** The WebSocket routes. */
  readonly sockets: readonly WebSocketRoute[]
  /** Output of tasks, which clients read by ByteStream. */
  readonly logs: LogStreams
  /** Refuses new tasks; workers continue and report results. */
  refuseTasks(): void
  /** Makes workers reconnect, here or to another server; they do not count as lost. */
  leave(): void
  /** Resolves when all pending writes are recorded. */
  close(): Promise<void>
}

export async function openGrid(config: Config, tools: GridTools): Promise<Grid> {
  const { clock, log, storage } = tools
  const { engine, tally, close } = await openGridEngine(config, tools)
  const draining = new AbortController()
  const ending = new AbortController()
  const { instances } = storage
  const inputs = keepInputs({ engine, instances, clock, log })
  const common = { clock, log, ending: ending.signal }
  const { execution } = config
  const opened = new AsyncDisposableStack()
  opened.defer(close)
  opened.defer(inputs.stop)
  const grants = networkGrants(execution.network.allow)
  const opening = openForCallers(config, { ...common, tools, engine, opened, grants, draining: draining.signal })
  const { code, workflows } = await opening.catch(async (error: unknown) => {
    await opened.disposeAsync()
    throw error
  })
  const refuseTasks = (): void => {
    engine.refuseTasks()
    draining.abort()
  }
  const logs = logStreams({ ...common, engine, instances, newId: randomUUID })
  const longPollMs = execution.scheduler.long_poll_timeout_seconds * 1000
  const working = { ...common, ...forWorkers(engine, storage), longPollMs }
  return {
    logs,
    doors: [...code.doors, workflows.door, httpWorkersDoor({ ...working, instances, newId: randomUUID })],
    sockets: [websocketWorkers({ ...working, canonical: code.canonicalLanguage }), ...code.sockets],
    services: [
      ...executionDoor({ engine, instances, clock, grants, logStreams: logs.namesFor }),
      ...logs.services,
      ...workersDoor(working),
      gridAdmin({ ...common, engine, tally }),
    ],
    refuseTasks,
    leave() {
      refuseTasks()
      ending.abort()
    },
    close: () => opened.disposeAsync(),
  }
}

interface CallerParts {
  readonly tools: GridTools
  readonly clock: Clock
  readonly log: Log
  readonly engine: LocalEngine
  /** Closes everything that was opened here. */
  readonly opened: AsyncDisposableStack
  readonly grants: NetworkGrants
  readonly ending: AbortSignal
  readonly draining: AbortSignal
}

/** The doors for snippets and workflows, which have state of their own. */
async function openForCallers(config: Config, parts: CallerParts) {
  const { server, snippets: settings, execution } = config
  const { tools, engine, opened, ...common } = parts
  const shared = { ...common, storage: tools.storage, dataDir: server.data_dir }
  const code = await openCodeDoor({
    ...shared,
    engine,
    settings,
    instance: server.instance_name,
    noWorkerGraceMs: execution.scheduler.no_worker_grace_seconds * 1000,
    isWorkerComing: tools.isWorkerComing,
    callbackSecret: tools.callbackSecret,
    reach: execution.network.reach,
    maxQueueSize: execution.scheduler.max_queue_size,
  })
  opened.adopt(code, () => code.close())
  const retentionMs = execution.retention_seconds * 1000
  const workflows = await openCwlWorkflows({ ...shared, engine, retentionMs, limits: runLimits(config.cwl) })
  opened.adopt(workflows, () => workflows.close())
  return { code, workflows }
}

/** The parts that the doors of all worker protocols share. */
const forWorkers = ({ workers: service }: LocalEngine, { instances, ownResultsOf }: GridTools['storage']) => ({
  service,
  stages: keptStages({ service, resultsOf: (instance) => ownResultsOf(instance).stages }),
  checkReport: reportCheck({ service, instances }),
})
