/** The whole code door in this process: a real engine, the service, the API, and workers with scripted results. */
import { randomUUID } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { onTestFinished } from 'vitest'
import type { z } from 'zod'
import type { Clock } from '../../../base/clock.ts'
import type { Digest } from '../../../base/digest.ts'
import { createEngine, type LocalEngine } from '../../../engine/engine.ts'
import type { EngineOptions } from '../../../engine/engine-options.ts'
import type { TaskLease, WorkerSession } from '../../../engine/workers/worker-session.ts'
import { snippetTask } from '../../../languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { CommandResult, CommandTask, StageCause, StageResult } from '../../../model/command-task.ts'
import type { Language } from '../../../model/language.ts'
import { NETWORK_PROPERTY } from '../../../model/properties/network-grants.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { Instance } from '../../../services/instances/instances.ts'
import { type OpenSnippetService, snippetService } from '../../../services/snippets/engine-snippets.ts'
import type { CallbackSettings } from '../../../services/snippets/snippet-tools.ts'
import { digestOf, listOf } from '../../../storage/blobs.fixture.ts'
import type { Journal } from '../../../storage/journal/journal.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { memoryActionCache } from '../../../storage/memory-action-cache.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { commandTaskFromProto } from '../../../wire/tasks/command-task.ts'
import { commandResultToProto } from '../../../wire/tasks/command-task-result.ts'
import { submittedAnswer, taskAnswerForm } from './answers.ts'
import { callbackBody } from './callback-body.ts'
import { snippetsDoor } from './door.ts'

const language = (name: string, rest: Partial<Language> = {}): Language => ({
  name,
  title: name,
  aliases: [],
  fileName: `main.${name}`,
  compile: undefined,
  run: { argv: [name, '{file}'], env: {}, limits: { wallMs: 10_000 } },
  probe: { programs: [name], argv: [name, '--version'], pattern: '(.*)' },
  selfTest: { code: '', stdin: '', stdout: '' },
  ...rest,
})

const LANGUAGES: readonly Language[] = [
  language('python', { title: 'Python', aliases: ['py', 'python3'], fileName: 'main.py' }),
  language('c', { fileName: 'main.c', compile: { argv: ['gcc', '{files}'], env: {}, limits: { wallMs: 10_000 } } }),
  language('ruby', { fileName: 'main.rb' }),
]

/** The scope of tests with one instance. */
export const LOCAL_SCOPE: CallScope = { caller: LOCAL_CALLER, instance: '' }

/** Reads the instance from a header, for tests of two instances. */
export const scopeByHeader = (c: Context): CallScope => ({
  caller: LOCAL_CALLER,
  instance: c.req.header('x-instance') ?? '',
})

export interface SnippetsGrid {
  readonly engine: LocalEngine
  readonly service: OpenSnippetService
  readonly app: Hono
  readonly instance: Instance
  readonly ending: AbortController
  worker(id: string, rest?: WorkerOptions): TestWorker
  /** Sends a request as a client does, and returns the response. */
  ask(path: string, options?: AskOptions): Promise<Answer>
}

export interface AskOptions {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: Envelope
}

interface Envelope {
  readonly code: number
  readonly message: string
  readonly detail?: string
  readonly retryAfter?: number
  readonly data?: unknown
}

/** The data of a successful envelope, checked against the API's schema. */
export function dataOf<T extends z.ZodType>({ json }: Answer, form: T): z.output<T> {
  if (json.code !== 0) throw new Error(`${json.code}: ${json.detail}`)
  return form.parse(json.data)
}

export interface SnippetGridOptions {
  readonly journal?: Journal
  readonly clock?: Clock
  readonly callbacks?: Omit<CallbackSettings, 'body'>
  readonly scheduler?: EngineOptions['scheduler']
  readonly instance?: Instance
}

export async function snippetsGrid(options: SnippetGridOptions = {}): Promise<SnippetsGrid> {
  const { journal = memoryJournal(), clock = manualClock(), callbacks, scheduler } = options
  const blobs = memoryStore()
  const instance: Instance = options.instance ?? {
    blobs,
    uploads: blobs,
    actions: memoryActionCache(),
    unnamedFunction: 'sha256',
  }
  const instances = () => instance
  const engine = await createEngine({
    journal,
    clock,
    newId: randomUUID,
    random: () => 0.5,
    ...(scheduler && { scheduler }),
  })
  const service = snippetService({
    engine,
    instances,
    languages: LANGUAGES,
    lower: snippetTask,
    clock,
    newId: randomUUID,
    ...(callbacks && { callbacks: { ...callbacks, body: callbackBody } }),
  })
  const ending = new AbortController()
  const app = snippetsDoor({
    service,
    instances,
    clock,
    version: '1.2.3',
    ending: ending.signal,
    scopeOf: scopeByHeader,
  })
  onTestFinished(async () => {
    ending.abort()
    service.close()
    await engine.close()
  })
  return {
    engine,
    service,
    app,
    instance,
    ending,
    worker: (id, rest) => testWorker(engine, id, rest),
    async ask(path, { method, body, headers = {} } = {}) {
      const response = await app.request(path, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      return { status: response.status, headers: response.headers, json: (await response.json()) as Envelope }
    },
  }
}

export interface WorkerOptions {
  readonly languages?: readonly string[]
  readonly slots?: number
  /** Its result of a task; without it, leases are kept until the test finishes them. */
  readonly answer?: (task: CommandTask) => CommandResult
}

export interface TestWorker {
  readonly leases: TaskLease[]
  readonly heard: string[]
  start(lease?: TaskLease): void
  print(text: string | Uint8Array, at?: number): void
  finish(result: CommandResult, lease?: TaskLease): Promise<unknown>
  leave(): void
}

const PROPERTIES = [
  ...['action', 'command', 'plain', 'snippet'].map((value) => ({ name: 'runs', value })),
  { name: 'runs-without-image', value: 'yes' },
  ...['none', 'namespaces', 'sandbox'].map((value) => ({ name: 'isolation', value })),
  { name: NETWORK_PROPERTY, value: 'yes' },
]

function testWorker(engine: LocalEngine, worker: string, options: WorkerOptions = {}): TestWorker {
  const { languages = ['python', 'python@3.11.2', 'c', 'c@12.2.0'], slots = 4, answer } = options
  const leases: TaskLease[] = []
  const heard: string[] = []
  const finish = (result: CommandResult, given?: TaskLease): Promise<unknown> => {
    const lease = given ?? mustHave(leases[0])
    leases.splice(leases.indexOf(lease), 1)
    const last = result.stages.at(-1)
    return engine.workers.finished(
      { worker, attemptId: lease.attemptId },
      {
        outcome: last?.cause === 'timeout' ? { kind: 'timeout' } : { kind: 'result', succeeded: last?.cause === 'ok' },
        result: commandResultToProto(result),
      },
    )
  }
  const session: WorkerSession = {
    lease(given) {
      leases.push(...given)
      if (answer === undefined) return
      for (const lease of given)
        setImmediate(() => {
          engine.workers.started(worker, lease.attemptId)
          void finish(answer(commandTaskFromProto(lease.spec)), lease)
        })
    },
    begin() {},
    stop: (attempt, why) => void heard.push(`stop ${attempt}: ${why}`),
    order: (order) => void heard.push(order),
    close: (what) => void heard.push(`over: ${what}`),
  }
  const properties = [...PROPERTIES, ...languages.map((value) => ({ name: 'language', value }))]
  engine.workers.register({ worker, slots, properties }, session)
  return {
    leases,
    heard,
    start: (lease) => void engine.workers.started(worker, mustHave(lease ?? leases[0]).attemptId),
    print(text, at) {
      const { attemptId } = mustHave(leases[0])
      const bytes = typeof text === 'string' ? Buffer.from(text) : text
      engine.workers.output({ worker, attemptId, stream: 'stdout', bytes, ...(at !== undefined && { at }) })
    },
    finish,
    leave: () => void engine.workers.unregister(worker),
  }
}

function mustHave<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the worker has nothing')
  return value
}

/** A stage result with this output. */
export const stage = (stdout: string, rest: Partial<StageResult> = {}): StageResult => ({
  name: 'run',
  cause: 'ok',
  exitCode: 0,
  signal: undefined,
  reason: undefined,
  stdout: inline(stdout),
  stderr: inline(''),
  usage: { wallMs: 1200, cpuUserMs: 900, cpuSystemMs: 100, peakMemoryBytes: 8_000_000, how: 'counted' },
  ...rest,
})

export const inline = (text: string) => ({
  inline: Buffer.from(text),
  digest: undefined,
  droppedBytes: 0,
  droppedAt: 0,
})

export const ran = (...stages: readonly StageResult[]): CommandResult => ({
  stages,
  outputs: { root: undefined, files: [], symlinks: [], problem: undefined },
  metadata: undefined,
})

export const ended = (cause: StageCause, exitCode = 1): CommandResult => ran(stage('', { cause, exitCode }))

/** A worker that prints the text between the first quotes of the code. */
export const echoing = (task: CommandTask): CommandResult =>
  ran(stage(`${/'(.*?)'/.exec(Buffer.from(task.inputs.files[0]?.contents ?? []).toString())?.[1] ?? ''}\n`))

export const HELLO = { language: 'python', code: "print('Hello, World!')" }

/** Runs `count` event loop turns: enough for an in-memory journal to answer and for watchers to be notified. */
export async function turns(count = 10): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

export async function putBlob(grid: SnippetsGrid, text: string): Promise<Digest> {
  const bytes = Buffer.from(text)
  const digest = digestOf(bytes)
  await grid.instance.blobs.writeMany(listOf([digest]), [bytes])
  return digest
}

/** Submits a task and returns its id. */
export async function submitted(grid: SnippetsGrid, body: object = HELLO): Promise<string> {
  return dataOf(await grid.ask('/api/v1/tasks', { body }), submittedAnswer).taskId
}

export const shown = async (grid: SnippetsGrid, id: string, query = '') =>
  dataOf(await grid.ask(`/api/v1/tasks/${id}${query}`), taskAnswerForm)
