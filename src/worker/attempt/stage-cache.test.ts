import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { FaultError } from '../../base/fault.ts'
import { type CommandResult, type CommandTask, commandTaskOf, type StageSpec } from '../../model/command-task.ts'
import { bareBy } from '../../runtimes/bare/bare.fixture.ts'
import { realClock } from '../../runtimes/run/rooms.fixture.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { stageNameOf } from '../../wire/tasks/command-key.ts'
import { commandResultFromProto, commandResultToProto } from '../../wire/tasks/command-task-result.ts'
import { remoteTarget } from '../cas/remote-target.ts'
import { openFileCache } from '../inputs/file-cache.ts'
import { inputStage } from '../inputs/stage-inputs.ts'
import { storeSource } from '../inputs/store-source.ts'
import type { StageResults } from '../links/worker-link.ts'
import { outputCollector } from '../outputs/collect-outputs.ts'
import { openRooms, sameUser } from '../rooms/rooms.ts'
import { scratch } from '../trees.fixture.ts'
import { attemptCommand } from './executor.fixture.ts'
import type { StageHooks } from './executor.ts'
import { gridAttempts } from './grid-attempts.ts'
import type { AttemptTools } from './pipeline.ts'

const bulk = threadPool(1)
afterAll(() => bulk.close())

/** The tools of a worker, and the stage results that its server stores. */
type CacheTools = AttemptTools & { readonly results: StageResults }

async function bench() {
  const folder = scratch()
  const bare = bareBy('spawner', true)
  const rooms = await openRooms(join(folder.path, 'rooms'), sameUser(undefined))
  const rules = { mostNodes: 10_000, absoluteSymlinks: 'allowed' } as const
  const kept = new Map<string, Uint8Array>()
  /** As the server stores them: it computes the key from the task that the worker holds. */
  const resultsOf = (task: CommandTask): StageResults => ({
    get: async (conditions) => kept.get(stageNameOf(task, conditions).hash),
    put: async (conditions, result) => void kept.set(stageNameOf(task, conditions).hash, result),
  })
  let store = memoryStore()
  let rounds = 0
  const toolsWith = async (more: Partial<AttemptTools>): Promise<AttemptTools> => {
    const cache = await openFileCache(join(folder.path, `cache-${++rounds}`), 1 << 20)
    const staged = { source: storeSource(store), cache, bulk, placement: 'copy', user: undefined, rules } as const
    return {
      ...{ rooms, runtime: bare.runtime, clock: realClock, worker: 'w1', limits: {}, inlineBytes: 0 },
      inputs: inputStage({ ...staged, directoryBytes: 1 << 20 }),
      ...gridAttempts,
      outputs: outputCollector({ bulk, rules: { ...rules, mostBytes: 1 << 30 } }),
      target: remoteTarget(store),
      toolchainOf: () => 'cc 12',
      ...more,
    }
  }
  return {
    kept,
    forgetBlobs: () => {
      store = memoryStore()
    },
    async go(task: CommandTask, more: Partial<CacheTools> = {}, hooks: StageHooks = {}): Promise<CommandResult> {
      const { results = resultsOf(task), ...tools } = more
      const name = `s-${process.pid}-${rounds}`
      const never = new AbortController().signal
      return await attemptCommand({ name, task, hooks, results }, await toolsWith(tools), never)
    },
    async [Symbol.asyncDispose]() {
      await bare.close()
      folder[Symbol.dispose]()
    },
  }
}

/** Compiles a program that prints an id, different for each compilation. */
const COMPILE = `echo compiled $1; mkdir -p a/b; read id < /proc/sys/kernel/random/uuid
printf '#!/bin/sh\\necho made as %s from %s\\n' $id "$(cat main.txt)" > a/b/program; chmod +x a/b/program`

const env = [{ name: 'PATH', value: '/usr/bin:/bin' }]

function taskOf(more: { stage?: Partial<StageSpec>; source?: string } = {}): CommandTask {
  const { stage = {}, source = 'one' } = more
  const cache = { salt: 'secret', outputs: ['a/**'] }
  return commandTaskOf({
    stages: [
      { name: 'compile', argv: ['/bin/sh', '-c', COMPILE, 'sh', 'it'], env, cache, ...stage },
      { name: 'run', argv: ['a/b/program'], env },
    ],
    inputs: { files: [{ path: 'main.txt', contents: Buffer.from(source), executable: false }] },
    platform: [{ name: 'language', value: 'c@12.2.0' }],
  })
}

const said = ({ stages }: CommandResult, at: number): string => Buffer.from(stages[at]?.stdout.inline ?? []).toString()

test('a cached compile stage is not run again, and differs only in its cached flag', async () => {
  await using at = await bench()
  const first = await at.go(taskOf())
  const heard: string[] = []
  const hear = (what: string) => (bytes: Uint8Array) => void heard.push(`${what} ${Buffer.from(bytes)}`)
  const again = await at.go(
    taskOf(),
    {},
    {
      stage: (name) => void heard.push(name),
      started: () => void heard.push('started'),
      stdout: hear('prints'),
    },
  )
  expect(said(first, 1)).toMatch(/^made as \S{36} from one\n$/)
  expect([said(again, 0), said(again, 1)]).toEqual(['compiled it\n', said(first, 1)])
  expect([first, again].map(({ stages }) => stages.map(({ cached }) => cached))).toEqual([
    [undefined, undefined],
    [true, undefined],
  ])
  expect(heard).toEqual(['compile', 'started', 'prints compiled it\n', 'run', `prints ${said(first, 1)}`])
})

test('a stage with other limits finds the cached result', async () => {
  await using at = await bench()
  const first = await at.go(taskOf())
  expect(said(await at.go(taskOf({ stage: { limits: { wallMs: 7000 } } })), 1)).toBe(said(first, 1))
})

test.each<[string, Parameters<typeof taskOf>[0], Partial<CacheTools>]>([
  ['another input', { source: 'two' }, {}],
  ['another word', { stage: { argv: ['/bin/sh', '-c', COMPILE, 'sh', 'that'] } }, {}],
  ['another variable', { stage: { env: [...env, { name: 'CFLAGS', value: '-O3' }] } }, {}],
  ['other outputs', { stage: { cache: { salt: 'secret', outputs: ['a/**', 'b'] } } }, {}],
  ['another toolchain', {}, { toolchainOf: () => 'cc 13' }],
  ['a toolchain of which nothing is known', {}, { toolchainOf: () => undefined }],
  ['other rooms', {}, { isolation: 'namespaces' }],
  ['the network', { stage: { network: true } }, {}],
  ['nothing that could be asked', {}, { results: { get: async () => undefined, put: async () => {} } }],
])('with %s the stage is compiled again', async (_, wish, tools) => {
  await using at = await bench()
  const first = await at.go(taskOf())
  const other = await at.go(taskOf(wish), tools)
  expect(other.stages.map(({ cause, cached }) => [cause, cached])).toEqual(Array(2).fill(['ok', undefined]))
  expect(said(other, 1)).not.toBe(said(first, 1))
})

test('the result of a failed compile stage is not cached', async () => {
  await using at = await bench()
  const task = taskOf({ stage: { argv: ['/bin/sh', '-c', `${COMPILE}; exit 3`] } })
  expect((await at.go(task)).stages.map(({ exitCode }) => exitCode)).toEqual([3])
  expect(at.kept.size).toBe(0)
})

test('a stage whose cached blobs were evicted is compiled again', async () => {
  await using at = await bench()
  const first = await at.go(taskOf())
  at.forgetBlobs()
  const again = await at.go(taskOf())
  expect(again.stages.map(({ cause, cached }) => [cause, cached])).toEqual(Array(2).fill(['ok', undefined]))
  expect(said(again, 1)).not.toBe(said(first, 1))
})

test('a cache that fails does not fail the task', async () => {
  await using at = await bench()
  const fails = async (): Promise<never> => {
    throw new FaultError({ kind: 'denied', what: 'not you' })
  }
  const result = await at.go(taskOf(), { results: { get: fails, put: fails } })
  expect(result.stages.map(({ cause }) => cause)).toEqual(['ok', 'ok'])
})

test.each([
  ['lies where an input does', 'main.txt'],
  ['lies below an input', 'main.txt/x'],
  ['leads out of the room', '../../escaped'],
])('a cached result with a file that %s is ignored', async (_, path) => {
  await using at = await bench()
  await at.go(taskOf())
  for (const [hash, bytes] of at.kept) {
    const known = commandResultFromProto(bytes, 'sha256')
    const [file] = known.outputs.files
    if (file === undefined) throw new Error('nothing was kept')
    at.kept.set(hash, commandResultToProto({ ...known, outputs: { ...known.outputs, files: [{ ...file, path }] } }))
  }
  const again = await at.go(taskOf())
  expect(again.stages.map(({ cause, cached }) => [cause, cached])).toEqual(Array(2).fill(['ok', undefined]))
})
