import { randomUUID } from 'node:crypto'
import { systemClock } from '../../src/app/process/clock.ts'
import { createEngine, type LocalEngine } from '../../src/engine/engine.ts'
import type { TaskLease } from '../../src/engine/workers/worker-session.ts'
import { snippetTask } from '../../src/languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { CommandResult } from '../../src/model/command-task.ts'
import type { Language } from '../../src/model/language.ts'
import { type SnippetRequest, snippetOf } from '../../src/model/snippet.ts'
import { type OpenSnippetService, snippetService } from '../../src/services/snippets/engine-snippets.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { commandResultToProto } from '../../src/wire/tasks/command-task-result.ts'

const WORKER = 'worker'
const SLOTS = 256

const language = (name: string): Language => ({
  name,
  title: name,
  aliases: [],
  fileName: `main.${name}`,
  compile: undefined,
  run: { argv: [name, '{file}'], env: {}, limits: { wallMs: 10_000 } },
  probe: { programs: [name], argv: [name, '--version'], pattern: '(.*)' },
  selfTest: { code: '', stdin: '', stdout: '' },
})
const LANGUAGES = ['python', 'ruby'].map(language)

const PROPERTIES = [
  ...['action', 'command', 'plain', 'snippet'].map((value) => ({ name: 'runs', value })),
  { name: 'runs-without-image', value: 'yes' },
  { name: 'isolation', value: 'sandbox' },
  ...LANGUAGES.flatMap(({ name }) => [name, `${name}@1`]).map((value) => ({ name: 'language', value })),
]

const output = (text: string) => ({ inline: Buffer.from(text), digest: undefined, droppedBytes: 0, droppedAt: 0 })

const RESULT: CommandResult = {
  stages: [
    {
      name: 'run',
      cause: 'ok',
      exitCode: 0,
      signal: undefined,
      reason: undefined,
      stdout: output('Hello, World!\n'.repeat(10)),
      stderr: output(''),
      usage: { wallMs: 12, cpuUserMs: 9, cpuSystemMs: 1, peakMemoryBytes: 8_000_000, how: 'counted' },
    },
  ],
  outputs: { root: undefined, files: [], symlinks: [], problem: undefined },
  metadata: undefined,
}

export interface SnippetGrid {
  readonly engine: LocalEngine
  readonly service: OpenSnippetService
}

/** An engine and the snippet service, with a worker that finishes each task in the next loop turn. */
export async function gridOver(journal: Journal): Promise<SnippetGrid> {
  const blobs = memoryStore()
  const instance = { blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' } as const
  const common = { clock: systemClock, newId: randomUUID }
  const engine = await createEngine({ ...common, journal, random: Math.random })
  const service = snippetService({
    ...common,
    engine,
    instances: () => instance,
    languages: LANGUAGES,
    lower: snippetTask,
  })
  const report = { outcome: { kind: 'result', succeeded: true }, result: commandResultToProto(RESULT) } as const
  const lease = (given: readonly TaskLease[]): void => {
    for (const { attemptId } of given)
      setImmediate(() => void engine.workers.finished({ worker: WORKER, attemptId }, report))
  }
  engine.workers.register(
    { worker: WORKER, slots: SLOTS, properties: PROPERTIES },
    { lease, begin() {}, stop() {}, order() {}, close() {} },
  )
  return { engine, service }
}

export const SCOPE = { caller: LOCAL_CALLER, instance: '' }

/** One task in 1,000 is written in Ruby, one in 5,000 has the user `ann`; all others are Python tasks of `ben`. */
export async function fill({ service }: SnippetGrid, tasks: number): Promise<void> {
  const limit = { ms: 60_000, signal: new AbortController().signal }
  let next = 0
  const submit = async (): Promise<void> => {
    while (next < tasks) await service.run(SCOPE, requestOf(next++), limit)
  }
  await Promise.all(Array.from({ length: SLOTS }, submit))
}

const requestOf = (number: number): SnippetRequest =>
  snippetOf({
    language: number % 1000 === 0 ? 'ruby' : 'python',
    files: [{ name: '', contents: Buffer.from(`print(${number})\n`.repeat(10)) }],
    metadata: { user: number % 5000 === 1 ? 'ann' : 'ben' },
  })
