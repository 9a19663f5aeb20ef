import { randomUUID } from 'node:crypto'
import type { Hono } from 'hono'
import { FaultError } from '../base/fault.ts'
import { keptStages } from '../doors/command-tasks/kept-stages.ts'
import { executionDoor } from '../doors/execution/execution-door.ts'
import { keepInputs } from '../doors/execution/kept-inputs.ts'
import { gridAdmin } from '../doors/grid-admin/grid-admin.ts'
import type { WebSocketRoute } from '../doors/http/web-sockets.ts'
import { httpWorkers } from '../doors/http-workers/http-workers.ts'
import { type LogStreams, logStreams } from '../doors/log-streams/log-streams.ts'
import { websocketWorkers } from '../doors/websocket-workers/websocket-workers.ts'
import { workersDoor } from '../doors/workers/grpc.ts'
import type { Service } from '../grpc/service.ts'
import { openCodeDoor } from './code-door.ts'
import type { Config } from './config.ts'
import { openCwlSubmissions } from './cwl-submissions.ts'
import { type GridTools, openEngine } from './grid-engine.ts'

/** What runs tasks: the engine over its journal, and the doors to it. */
export interface Grid {
  readonly services: readonly Service[]
  /** What is answered over HTTP. */
  readonly doors: readonly Hono[]
  /** And what becomes a WebSocket. */
  readonly sockets: readonly WebSocketRoute[]
  /** What tasks print, for whoever reads it by ByteStream. */
  readonly logs: LogStreams
  /** Workers are asked to look for the server elsewhere, or again later; they are not taken for gone. */
  leave(): void
  /** Resolves when all that was begun is on record. */
  close(): Promise<void>
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

async function openGrid(config: Config, tools: GridTools): Promise<Grid> {
  const { clock, log, storage } = tools
  const { engine, tally, close } = await openEngine(config, tools)
  const ending = new AbortController()
  const { instances } = storage
  const inputs = keepInputs({ engine, instances, clock, log })
  const common = { clock, log, ending: ending.signal }
  const { server, snippets: settings, execution } = config
  const opened = new AsyncDisposableStack()
  opened.defer(close)
  opened.defer(inputs.stop)
  const parts = { ...common, engine, storage, dataDir: server.data_dir }
  const opening = async () => ({
    code: opened.adopt(
      await openCodeDoor({ ...parts, settings, maxQueueSize: execution.scheduler.max_queue_size }),
      (code) => code.close(),
    ),
    workflows: opened.adopt(
      await openCwlSubmissions({ ...parts, retentionMs: execution.retention_seconds * 1000 }),
      (workflows) => workflows.close(),
    ),
  })
  const { code, workflows } = await opening().catch(async (error: unknown) => {
    await opened.disposeAsync()
    throw error
  })
  const logs = logStreams({ ...common, engine, instances, newId: randomUUID })
  const longPollMs = execution.scheduler.long_poll_timeout_seconds * 1000
  const stages = keptStages({ desk: engine.workers, resultsOf: (instance) => storage.ownResultsOf(instance).stages })
  const working = { ...common, desk: engine.workers, longPollMs, stages }
  return {
    logs,
    doors: [...code.doors, workflows.door, httpWorkers({ ...working, instances, newId: randomUUID })],
    sockets: [websocketWorkers({ ...working, canonical: code.canonicalLanguage }), ...code.sockets],
    services: [
      ...executionDoor({ engine, instances, clock, logStreams: logs.namesFor }),
      ...logs.services,
      ...workersDoor(working),
      gridAdmin({ ...common, engine, tally }),
    ],
    leave: () => ending.abort(),
    close: () => opened.disposeAsync(),
  }
}
