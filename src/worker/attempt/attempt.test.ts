import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { ExecutionTime } from '../../model/action-result.ts'
import { strictest } from '../../model/command.ts'
import type { StageResult } from '../../model/command-task.ts'
import { bareBy } from '../../runtimes/bare/bare.fixture.ts'
import { commandOf, realClock, shell, testWhere } from '../../runtimes/run/rooms.fixture.ts'
import type { RunHooks } from '../../runtimes/run/runtime.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { remoteTarget } from '../cas/remote-target.ts'
import { openFileCache } from '../inputs/file-cache.ts'
import { safePlacement } from '../inputs/place-inputs.ts'
import { inputStage } from '../inputs/stage-inputs.ts'
import { storeSource } from '../inputs/store-source.ts'
import type { BlobTarget } from '../outputs/blob-target.ts'
import { outputCollector } from '../outputs/collect-outputs.ts'
import { openRooms, sameUser, type User } from '../rooms/rooms.ts'
import { type ActionOptions, actionTask } from '../tasks.fixture.ts'
import { program, putTree, scratch } from '../trees.fixture.ts'
import { gridAttempts } from './grid-attempts.ts'
import type { AttemptTools } from './pipeline.ts'
import { attemptPipeline } from './pipeline.ts'

const bulk = threadPool(1)
afterAll(() => bulk.close())
const never = new AbortController().signal
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()

interface Bench {
  readonly user?: User
  readonly wrapTarget?: (target: BlobTarget) => BlobTarget
}

async function bench({ user, wrapTarget = (target) => target }: Bench = {}) {
  const folder = scratch()
  const store = memoryStore()
  const bare = bareBy('spawner', true, { user })
  const cache = await openFileCache(join(folder.path, 'cache'), 1 << 20)
  const rooms = await openRooms(join(folder.path, 'rooms'), sameUser(user))
  const limited = { mostNodes: 10_000, absoluteSymlinks: 'allowed' as const }
  const placement = safePlacement(user, process.getuid?.() ?? 0)
  const tools: AttemptTools = {
    rooms,
    inputs: inputStage({
      source: storeSource(store),
      cache,
      bulk,
      placement,
      user,
      rules: limited,
      directoryBytes: 1 << 20,
    }),
    runtime: bare.runtime,
    ...gridAttempts,
    outputs: outputCollector({ bulk, rules: { ...limited, mostBytes: 1 << 30 } }),
    target: wrapTarget(remoteTarget(store)),
    clock: realClock,
    worker: 'w1',
    limits: { wallMs: 20_000, outputBytes: 100_000 },
    inlineBytes: 1000,
  }
  let attempts = 0
  const go = async (argv: readonly string[], { command = {}, hooks = {}, signal = never }: Go = {}) => {
    const name = `a-${process.pid}-${++attempts}`
    const task = actionTask({ argv, env: commandOf(argv).env, ...command })
    const result = await attemptPipeline(tools).execute({ name, task, hooks }, signal)
    const [end] = result.stages as [StageResult]
    return { end, result }
  }
  return {
    store,
    cache,
    tools,
    go,
    rooms: join(folder.path, 'rooms'),
    async [Symbol.asyncDispose]() {
      await bare.close()
      folder[Symbol.dispose]()
    },
  }
}

interface Go {
  readonly command?: ActionOptions
  readonly hooks?: RunHooks
  readonly signal?: AbortSignal
}

const wanting = (...paths: string[]): ActionOptions => ({ outputs: { paths } })

const inputs = (root: Digest): ActionOptions => ({ inputs: { root } })

async function read(store: BlobStore, digest: Digest): Promise<string> {
  const pieces = await storeSource(store).read(digest, never)
  let all = ''
  for await (const piece of pieces ?? []) all += text(piece)
  return all
}

/** No room directory is left. */
async function expectClean(at: Awaited<ReturnType<typeof bench>>): Promise<void> {
  await at.tools.rooms.cleared()
  expect(readdirSync(at.rooms)).toEqual([])
}

test('an attempt stores its outputs, reports its times in order, and deletes its room', async () => {
  await using at = await bench()
  const root = await putTree(at.store, {
    'tool.sh': program('#!/bin/sh\ntr a-z A-Z < in.txt > out/OUT\necho done\n'),
    'in.txt': 'hello',
  })
  const { end, result } = await at.go(['./tool.sh'], { command: { ...inputs(root), ...wanting('out/OUT') } })
  expect(end.cause).toBe('ok')
  expect(result.outputFiles).toMatchObject([{ path: 'out/OUT', digest: digestOf('sha256', Buffer.from('HELLO')) }])
  expect(await read(at.store, result.outputFiles[0]?.digest as Digest)).toBe('HELLO')
  expect(text(result.stdout.raw)).toBe('done\n')
  const order: ExecutionTime[] = [
    'workerStart',
    'inputFetchStart',
    'inputFetchCompleted',
    'executionStart',
    'executionCompleted',
    'outputUploadStart',
    'outputUploadCompleted',
    'workerCompleted',
  ]
  const times = order.map((name) => result.metadata?.times[name])
  const stamps = times.map((time) => (time?.seconds ?? Number.NaN) + (time?.nanos ?? 0) / 1e9)
  expect(stamps).toEqual([...stamps].sort((one, other) => one - other))
  expect(stamps.every(Number.isFinite)).toBe(true)
  expect(result.metadata).toMatchObject({ worker: 'w1', virtualDurationMs: end.usage.wallMs })
  await expectClean(at)
})

const asRoot = testWhere(process.getuid?.() === 0, 'only root can run a command as another user')

asRoot('a command that runs as another user can write its directories but cannot change a cached input', async () => {
  await using at = await bench({ user: { uid: 54_321, gid: 54_321 } })
  const root = await putTree(at.store, { dir: { input: 'as it was' } })
  const script = 'echo changed > dir/input; chmod u+w dir/input; echo x > dir/made && echo y > "$TMPDIR/t" && id -u'
  const { result } = await at.go(shell(script), { command: { ...inputs(root), ...wanting('dir/made') } })
  expect(text(result.stdout.raw)).toBe('54321\n')
  expect(result.outputFiles).toHaveLength(1)
  const again = await at.go(['cat', 'dir/input'], { command: inputs(root) })
  expect(text(again.result.stdout.raw)).toBe('as it was')
  await expectClean(at)
})

test('a command that fails has a result with its outputs', async () => {
  await using at = await bench()
  const { end, result } = await at.go(shell('echo log > log; echo no >&2; exit 3'), {
    command: wanting('log', 'never'),
  })
  expect([end.cause, result.exitCode, result.outputFiles.length, text(result.stderr.raw)]).toEqual([
    'exit',
    3,
    1,
    'no\n',
  ])
})

test('a command that times out has a result with its outputs', async () => {
  await using at = await bench()
  const { end, result } = await at.go(shell('echo log > log; echo begun; sleep 60'), {
    command: { ...wanting('log'), limits: { wallMs: 5000 } },
  })
  expect([end.cause, result.outputFiles.length, text(result.stdout.raw)]).toEqual(['timeout', 1, 'begun\n'])
  await expectClean(at)
})

test('a missing program gives exit code 127, and standard error names the program', async () => {
  await using at = await bench()
  const { end, result } = await at.go(['no-such-tool'])
  expect([end.cause, result.exitCode]).toEqual(['not-started', 127])
  expect(text(result.stderr.raw)).toContain('no-such-tool')
})

test('long output is stored as a blob, and cut output contains the number of bytes left out', async () => {
  await using at = await bench()
  const { result } = await at.go(
    shell('yes 0123456789 | head -c 5000; echo out of sight >&2; yes x | head -c 300000 >&2; echo end >&2'),
  )
  expect(result.stdout).toMatchObject({ raw: undefined, digest: { size: 5000 } })
  const stderr = await read(at.store, result.stderr.digest as Digest)
  expect(stderr).toMatch(/^out of sight\n/)
  expect(stderr).toMatch(/\n\[windlass: \d+ bytes left out\]\n/)
  expect(stderr).toMatch(/end\n$/)
})

describe('faults', () => {
  test('missing inputs fail with their digests, and the room is deleted', async () => {
    await using at = await bench()
    const root = digestOf('sha256', randomBytes(10))
    await expect(at.go(['true'], { command: inputs(root) })).rejects.toMatchObject({
      fault: { kind: 'missing', digests: [root] },
    })
    await expectClean(at)
  })

  test('a working directory absent from the inputs is invalid', async () => {
    await using at = await bench()
    await expect(at.go(['true'], { command: { workingDirectory: 'nowhere' } })).rejects.toMatchObject({
      fault: { kind: 'invalid' },
    })
    await expectClean(at)
  })

  test('an output that is a pipe makes a successful command invalid, and is ignored for a failed one', async () => {
    await using at = await bench()
    const pipe = { command: wanting('pipe') }
    await expect(at.go(['mkfifo', 'pipe'], pipe)).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    const { result } = await at.go(shell('mkfifo pipe; exit 1'), pipe)
    expect([result.exitCode, result.outputFiles]).toEqual([1, []])
  })

  test('a fault of the store is passed on, and the room is deleted', async () => {
    const failing = (): BlobTarget => ({ store: async () => Promise.reject(new Error('the store is down')) })
    await using at = await bench({ wrapTarget: failing })
    await expect(at.go(shell('echo x > x'), { command: wanting('x') })).rejects.toThrow('the store is down')
    await expectClean(at)
  })
})

describe('cancellation', () => {
  const cancelledFault = { fault: { kind: 'cancelled' } }

  test('an attempt cancelled before it begins creates no room', async () => {
    await using at = await bench()
    await expect(at.go(['true'], { signal: AbortSignal.abort() })).rejects.toMatchObject(cancelledFault)
    expect(readdirSync(at.rooms)).toEqual([])
  })

  test('an attempt cancelled while inputs are staged leaves no room', async () => {
    await using at = await bench()
    const abort = new AbortController()
    const root = await putTree(at.store, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, `${i}`])))
    const attempted = at.go(shell('touch started'), { command: inputs(root), signal: abort.signal })
    setImmediate(() => abort.abort())
    await expect(attempted).rejects.toMatchObject(cancelledFault)
    await expectClean(at)
  })

  test('an attempt cancelled while it runs leaves no room', async () => {
    await using at = await bench()
    const abort = new AbortController()
    const hooks = { stdout: () => abort.abort() }
    await expect(at.go(shell('echo started; sleep 60'), { hooks, signal: abort.signal })).rejects.toMatchObject(
      cancelledFault,
    )
    await expectClean(at)
  })

  test('an attempt cancelled while outputs are stored leaves no room', async () => {
    const abort = new AbortController()
    const wrapTarget = (target: BlobTarget): BlobTarget => ({
      store(blobs, signal) {
        abort.abort()
        return target.store(blobs, signal)
      },
    })
    await using at = await bench({ wrapTarget })
    await expect(at.go(shell('echo x > x'), { command: wanting('x'), signal: abort.signal })).rejects.toMatchObject(
      cancelledFault,
    )
    await expectClean(at)
  })
})

describe('rooms', () => {
  test('a room with directories of mode 0 is removed', async () => {
    await using at = await bench()
    await at.go(shell('mkdir -p a/b; touch a/b/c; chmod 0 a/b a'))
    await expectClean(at)
  })

  test('a starting worker removes the rooms of an earlier process', async () => {
    using folder = scratch()
    const rooms = await openRooms(folder.path, sameUser(undefined))
    const room = await rooms.open('left-behind')
    expect(existsSync(room.path)).toBe(true)
    await openRooms(folder.path, sameUser(undefined))
    expect(readdirSync(folder.path)).toEqual([])
  })
})

test('strictest takes the lower of two limits', () => {
  expect(strictest({ wallMs: 5, pids: 9 }, { wallMs: 7, memoryBytes: 1 })).toEqual({
    wallMs: 5,
    pids: 9,
    memoryBytes: 1,
  })
})
