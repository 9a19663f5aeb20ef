import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../src/app/process/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { httpDoor } from '../../src/doors/http/server/http-door.ts'
import { listenHttp } from '../../src/doors/http/server/listen.ts'
import { websocketWorkers } from '../../src/doors/websocket/workers/door.ts'
import type { WebSocketWorkersOptions } from '../../src/doors/websocket/workers/session.ts'
import { createEngine, type LocalEngine } from '../../src/engine/engine.ts'
import type { OperationStatus } from '../../src/engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { Limits } from '../../src/model/command.ts'
import { type CommandResult, commandTaskOf } from '../../src/model/command-task.ts'
import { commandResultOf, commandTaskRequest } from '../../src/services/execution/task-request.ts'
import { memoryJournal } from '../../src/storage/journal/memory-journal.ts'
import { type ManualClock, manualClock } from '../../src/testing/manual-clock.ts'

export interface SnippetWish {
  readonly language?: string
  readonly code?: string
  readonly limits?: Limits
}

export interface SocketGrid {
  readonly engine: LocalEngine
  readonly clock: ManualClock
  readonly ending: AbortController
  readonly url: string
  submit(request?: SnippetWish): Promise<OperationStatus>
  end(operation: string): Promise<Ended>
  /** Submits a snippet and waits for its end. */
  run(request?: SnippetWish): Promise<Ended>
  worker(clientId: string, more?: object): Promise<ScriptedWorker>
  stateOf(worker: string): string | undefined
}

export interface Ended {
  readonly status: OperationStatus
  readonly result: CommandResult | undefined
}

/** An engine, and a server that workers reach by WebSocket only. Its clock advances only by the test. */
export async function startSocketGrid(options: Partial<WebSocketWorkersOptions> = {}): Promise<SocketGrid> {
  const clock = manualClock()
  const ending = new AbortController()
  const journal = memoryJournal()
  const scheduler = { namesOffered: ['runs', 'language', 'runs-without-image'] }
  const engine = await createEngine({ journal, clock, newId: randomUUID, random: () => 0.5, scheduler })
  const app = httpDoor({
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
  })
  const sockets = [websocketWorkers({ service: engine.workers, clock, ending: ending.signal, ...options })]
  const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: systemClock, sockets })
  onTestFinished(async () => {
    await engine.close()
    await server.close(0)
  })
  const url = `ws://${server.address}/api/v1/workers/connect`
  const end = async (operation: string): Promise<Ended> => {
    const status = await endOf(engine, operation)
    return { status, result: commandResultOf(status) }
  }
  const submit = (request: SnippetWish = {}) => engine.submit(LOCAL_CALLER, submissionOf(request))
  return {
    engine,
    clock,
    ending,
    url,
    submit,
    end,
    run: async (request) => end((await submit(request)).operation),
    worker: (clientId, more) => scriptedWorker(url, clientId, more),
    stateOf: (worker) =>
      [...engine.workers.list(), ...engine.workers.lost()].find((one) => one.worker === worker)?.state,
  }
}

const submissionOf = ({ language = 'python', code = 'print(1)', limits = {} }: SnippetWish) =>
  commandTaskRequest(
    commandTaskOf({
      stages: [{ name: 'run', argv: ['python3', 'main.py'], limits }],
      inputs: { files: [{ path: 'main.py', contents: Buffer.from(code), executable: false }] },
      platform: [{ name: 'language', value: language }],
    }),
    { instance: '', origin: 'snippet', form: 'snippet', mayStartEarly: true },
  )

const endOf = (engine: LocalEngine, operation: string): Promise<OperationStatus> =>
  new Promise((resolve, reject) => {
    engine.watch(LOCAL_CALLER, operation, {
      notify: (status) => status.end !== undefined && resolve(status),
      failed: reject,
    })
  })

export type Said = Readonly<Record<string, unknown>>

/** A worker that sends the messages of the test. */
export interface ScriptedWorker {
  readonly socket: WebSocket
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  send(message: object | string): void
  heartbeat(more?: object): void
  /** The next message that it receives. */
  hears(): Promise<Said>
  /** Messages that it has received and the test has not read yet. */
  readonly unheard: readonly Said[]
  /** Sends a result for a task. */
  finish(task: Said, more?: object): void
}

export async function scriptedWorker(url: string, clientId: string, more: object = {}): Promise<ScriptedWorker> {
  const socket = new WebSocket(url)
  onTestFinished(() => socket.terminate())
  const received: Said[] = []
  const waiting: ((printed: Said) => void)[] = []
  socket.on('message', (data) => {
    const printed = JSON.parse(String(data)) as Said
    const wake = waiting.shift()
    if (wake === undefined) received.push(printed)
    else wake(printed)
  })
  socket.on('error', () => {})
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }))
  await once(socket, 'open')
  const send = (message: object | string) =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  const heartbeat = (now: object = {}) => send({ ...HEARTBEAT, clientId, ...more, ...now })
  heartbeat()
  return {
    socket,
    closed,
    send,
    heartbeat,
    hears: () =>
      new Promise((resolve) => (received.length > 0 ? resolve(received.shift() as Said) : waiting.push(resolve))),
    unheard: received,
    finish: ({ taskId }, rest = {}) => send({ ...RESULT, taskId, ...rest }),
  }
}

/** In the form of the protocol's description. */
const HEARTBEAT = {
  type: 'heartbeat',
  timestamp: '2026-02-21T10:30:00Z',
  load: { currentTasks: 0, maxConcurrent: 2, cpuUsage: 0.45, memoryUsage: 0.32 },
  capabilities: ['python', 'javascript', 'go'],
}
const RESULT = {
  type: 'result',
  success: true,
  output: 'Hello, World!\n',
  error: '',
  exitCode: 0,
  executionTime: '1.2s',
}

/** Waits until the server has read all messages sent before. */
export async function roundTrip({
  socket,
}: {
  readonly socket: { ping(): void; once(event: 'pong', wake: () => void): void }
}) {
  await new Promise<void>((resolve) => {
    socket.once('pong', resolve)
    socket.ping()
  })
}
