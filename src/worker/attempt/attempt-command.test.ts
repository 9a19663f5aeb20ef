import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type CommandTaskSpec, commandTaskOf, type StageSpec } from '../../model/command-task.ts'
import { bareBy } from '../../runtimes/bare/bare.fixture.ts'
import { realClock } from '../../runtimes/run/rooms.fixture.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { remoteTarget } from '../cas/remote-target.ts'
import { openFileCache } from '../inputs/file-cache.ts'
import { inputStage } from '../inputs/stage-inputs.ts'
import { storeSource } from '../inputs/store-source.ts'
import { outputCollector } from '../outputs/collect-outputs.ts'
import { openRooms, sameUser } from '../rooms/rooms.ts'
import { putBlob, scratch } from '../trees.fixture.ts'
import { attemptCommand } from './executor.fixture.ts'
import type { Attempt } from './executor.ts'
import { gridAttempts } from './grid-attempts.ts'
import type { AttemptTools } from './pipeline.ts'

const bulk = threadPool(1)
afterAll(() => bulk.close())
const never = new AbortController().signal

async function bench(more: Partial<AttemptTools> = {}) {
  const folder = scratch()
  const store = memoryStore()
  const bare = bareBy('spawner', true)
  await bare.runtime.probe() // started now, so that no timeout is spent on it
  const cache = await openFileCache(join(folder.path, 'cache'), 1 << 20)
  const rooms = await openRooms(join(folder.path, 'rooms'), sameUser(undefined))
  const rules = { mostNodes: 10_000, absoluteSymlinks: 'allowed' } as const
  const source = storeSource(store)
  const tools: AttemptTools = {
    rooms,
    inputs: inputStage({ source, cache, bulk, placement: 'copy', user: undefined, rules, directoryBytes: 1 << 20 }),
    runtime: bare.runtime,
    ...gridAttempts,
    outputs: outputCollector({ bulk, rules: { ...rules, mostBytes: 1 << 30 } }),
    target: remoteTarget(store),
    clock: realClock,
    worker: 'w1',
    limits: { outputBytes: 100_000 },
    inlineBytes: 0,
    ...more,
  }
  let attempts = 0
  return {
    store,
    cache,
    go(wish: CommandTaskSpec, order: Partial<Attempt> = {}, signal = never) {
      const name = `c-${process.pid}-${++attempts}`
      return attemptCommand({ name, hooks: {}, task: commandTaskOf(wish), ...order }, tools, signal)
    },
    async roomsLeft() {
      await rooms.cleared()
      return readdirSync(join(folder.path, 'rooms'))
    },
    async [Symbol.asyncDispose]() {
      await bare.close()
      folder[Symbol.dispose]()
    },
  }
}

const sh = (name: string, script: string, more: Partial<StageSpec> = {}): StageSpec => ({
  name,
  argv: ['/bin/sh', '-c', script],
  env: [{ name: 'PATH', value: '/usr/bin:/bin' }],
  ...more,
})

test('the hooks report each stage, its output, and the start of the task once', async () => {
  await using at = await bench()
  const heard: string[] = []
  const hooks = {
    stage: (name: string) => void heard.push(`stage ${name}`),
    started: () => void heard.push('started'),
    stdout: (bytes: Uint8Array) => void heard.push(Buffer.from(bytes).toString().trim()),
  }
  const result = await at.go({ stages: [sh('compile', 'echo one'), sh('run', 'echo two')] }, { hooks })
  expect(heard).toEqual(['stage compile', 'started', 'one', 'stage run', 'two'])
  const times = Object.keys(result.metadata?.times ?? {})
  expect(times).toEqual([
    'workerStart',
    'inputFetchStart',
    'inputFetchCompleted',
    'executionStart',
    'executionCompleted',
    'outputUploadStart',
    'outputUploadCompleted',
    'workerCompleted',
  ])
  expect(await at.roomsLeft()).toEqual([])
})

test('each stage has its own environment and limits, capped by the limits of the worker', async () => {
  await using at = await bench({ limits: { openFiles: 40, outputBytes: 1000 } })
  const print = 'ulimit -n; echo $X'
  const { stages } = await at.go({
    stages: [
      sh('a', print, { limits: { openFiles: 30 }, env: [{ name: 'X', value: '1' }] }),
      sh('b', print, { limits: { openFiles: 99 } }),
    ],
  })
  const printed = stages.map(({ stdout }) => Buffer.from(stdout.inline ?? []).toString())
  expect(printed).toEqual(['30\n1\n', '40\n\n'])
})

test('each stage gets its whole stdin, also an empty one, and a stage that does not read it is not blocked', async () => {
  await using at = await bench()
  const digest = await putBlob(at.store, Buffer.alloc(2_000_000, 'y'))
  const empty = await putBlob(at.store, '')
  const { stages } = await at.go({
    stages: [
      sh('blob', 'wc -c', { stdin: { kind: 'blob', digest } }),
      sh('empty-blob', 'wc -c', { stdin: { kind: 'blob', digest: empty } }),
      sh('inline', 'wc -c', { stdin: { kind: 'inline', bytes: Buffer.alloc(300_000) } }),
      sh('empty', 'wc -c', { stdin: { kind: 'inline', bytes: new Uint8Array() } }),
      sh('none', 'wc -c'),
      sh('deaf', 'exit 0', { stdin: { kind: 'blob', digest } }),
    ],
  })
  const printed = stages.map(({ stdout }) =>
    Buffer.from(stdout.inline ?? [])
      .toString()
      .trim(),
  )
  expect(printed).toEqual(['2000000', '0', '300000', '0', '0', ''])
  expect(stages.at(-1)?.cause).toBe('ok')
})

test('a prefetched task has its inputs staged, and starts only when it may begin', async () => {
  await using at = await bench()
  const digest = await putBlob(at.store, 'x')
  const gate = Promise.withResolvers<void>()
  const heard: string[] = []
  const hooks = { started: () => void heard.push('started') }
  const placed = [{ path: 'x', digest, executable: false, writable: false }]
  const going = at.go({ stages: [sh('run', 'cat x')], inputs: { placed } }, { hooks, begun: gate.promise })
  while (!at.cache.entries.has(`sha256/${digest.hash.slice(0, 2)}/${digest.hash}-1`)) await new Promise(setImmediate)
  expect(heard).toEqual([])
  gate.resolve()
  expect((await going).stages[0]).toMatchObject({ cause: 'ok' })
  expect(heard).toEqual(['started'])
})

test('a task cancelled while it waits or runs leaves no room behind', async () => {
  await using at = await bench()
  const waiting = new AbortController()
  const ahead = at.go({ stages: [sh('run', 'true')] }, { begun: new Promise(() => {}) }, waiting.signal)
  setImmediate(() => waiting.abort())
  await expect(ahead).rejects.toThrow()
  const running = new AbortController()
  const hooks = {
    stage(name: string) {
      if (name === 'second') setImmediate(() => running.abort())
    },
  }
  const stages = [sh('first', 'true'), sh('second', 'sleep 300')]
  await expect(at.go({ stages }, { hooks }, running.signal)).rejects.toThrow('cancelled')
  expect(await at.roomsLeft()).toEqual([])
})

test('a task runs where the isolation is at least as strong as requested, and is unavailable elsewhere', async () => {
  await using at = await bench({ isolation: 'sandbox' })
  const stages = [sh('run', 'true')]
  expect((await at.go({ stages, isolation: 'namespaces' })).stages[0]?.cause).toBe('ok')
  await expect(at.go({ stages, isolation: 'container' })).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
  await using bare = await bench()
  await expect(bare.go({ stages, isolation: 'namespaces' })).rejects.toThrow('and here it is none')
})
