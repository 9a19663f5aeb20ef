import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { digestOf } from '../../../base/hashing/hash-of.ts'
import { LINUX, openGrid, turns } from '../../../engine/grid.fixture.ts'
import { silentMeter } from '../../../engine/tasks/grid-meter.ts'
import type { Method } from '../../../grpc/service.ts'
import { STATUS } from '../../../grpc/status.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { fakeCall, fakeOutgoing } from '../../../testing/grpc-call.ts'
import {
  followToProto,
  printedFromProto,
  reasonsFromProto,
  taskFromProto,
  taskNameToProto,
  taskPageFromProto,
  taskQueryToProto,
} from '../../../wire/admin/grid.ts'
import { gridFiguresFromProto, watchGridToProto } from '../../../wire/admin/grid-figures.ts'
import { drainToProto, resumeToProto, workersFromProto } from '../../../wire/admin/grid-workers.ts'
import { actionFieldsToProto, commandFieldsToProto } from '../../../wire/reapi/action-fields.ts'
import { actionSpecToProto } from '../../../wire/tasks/task-spec.ts'
import { gridAdmin } from './door.ts'

async function administered() {
  const tally = { accepted: 0, ended: 0 }
  const counted = { ...silentMeter.of('', []), accepted: () => void tally.accepted++, ended: () => void tally.ended++ }
  const meter = { ...silentMeter, of: () => counted }
  const grid = await openGrid(memoryJournal(), { meter })
  const ending = new AbortController()
  const service = gridAdmin({ engine: grid.engine, clock: grid.clock, tally: () => tally, ending: ending.signal })
  const methodOf = (name: string): Method => service.methods[name] as Method
  const ask = async (name: string, request: Uint8Array): Promise<Uint8Array> => {
    const method = methodOf(name)
    if (method.kind !== 'unary') throw new Error(`${name} streams`)
    return await method.handle(request, fakeCall())
  }
  const stream = (name: string, request: Uint8Array) => {
    const method = methodOf(name)
    if (method.kind !== 'serverStreaming') throw new Error(`${name} does not stream`)
    const call = fakeCall()
    const out = fakeOutgoing(call)
    const ended = Promise.resolve().then(() => method.handle(request, out, call))
    ended.catch(() => {})
    return { call, out, ended }
  }
  return { ...grid, ending, ask, stream, get: (name: string) => ask('GetTask', taskNameToProto(name)) }
}

const command = commandFieldsToProto({ argv: ['make', 'all'], env: [], outputPaths: [], platform: [] })
const commandDigest = digestOf('sha256', command)
const action = actionFieldsToProto({
  ...{ commandDigest, inputRootDigest: digestOf('sha256', new Uint8Array()), timeoutMs: undefined },
  ...{ doNotCache: false, platform: [] },
})
const spec = actionSpecToProto({ actionDigest: digestOf('sha256', action), inline: { action, command } })

const list = { instance: undefined, states: [], limit: 100, cursor: undefined } as const

describe('ListTasks and GetTask', () => {
  test('tasks are listed with command and state, newest first', async () => {
    const { ask, submit, worker } = await administered()
    const first = await submit({ spec })
    const w1 = worker('w1')
    w1.start()
    const second = await submit({ instance: 'other' })
    await turns()
    const all = taskPageFromProto(await ask('ListTasks', taskQueryToProto(list)))
    expect(all.tasks).toMatchObject([
      { operation: second.operation, instance: 'other', state: 'queued', command: [], actionDigest: undefined },
      { operation: first.operation, state: 'running', worker: 'w1', attempt: 1, command: ['make', 'all'] },
    ])
    const some = taskPageFromProto(await ask('ListTasks', taskQueryToProto({ ...list, instance: 'other' })))
    expect(some.tasks.map(({ task }) => task)).toEqual([second.task])
    const running = taskPageFromProto(await ask('ListTasks', taskQueryToProto({ ...list, states: ['running'] })))
    expect(running.tasks.map(({ task }) => task)).toEqual([first.task])
  })

  test('tasks are listed in pages, and an invalid cursor is INVALID_ARGUMENT', async () => {
    const { ask, submit } = await administered()
    for (let i = 0; i < 5; i++) await submit()
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = taskPageFromProto(await ask('ListTasks', taskQueryToProto({ ...list, limit: 2, cursor })))
      seen.push(...page.tasks.map(({ task }) => task))
      cursor = page.next
    } while (cursor !== undefined)
    expect(seen).toEqual(['1-5', '1-4', '1-3', '1-2', '1-1'])
    await expect(ask('ListTasks', taskQueryToProto({ ...list, cursor: 'garbage' }))).rejects.toMatchObject({
      code: STATUS.invalidArgument,
    })
  })

  test('an ended task has its exit code, or none when its result cannot be decoded', async () => {
    const { get, submit, worker } = await administered()
    const status = await submit({ spec })
    const w1 = worker('w1')
    w1.start()
    await w1.finish(undefined, { result: Uint8Array.from([0x20, 3]) })
    await turns()
    expect(taskFromProto(await get(status.operation))).toMatchObject({ state: 'completed', exitCode: 3, cached: false })
    const odd = await submit({ spec: Uint8Array.of(0xff) })
    w1.start()
    await w1.finish(undefined, { result: Uint8Array.of(0xff) })
    await turns()
    expect(taskFromProto(await get(odd.operation))).toMatchObject({
      state: 'completed',
      exitCode: undefined,
      command: [],
    })
  })

  test('a long command line is cut to 400 characters', async () => {
    const { get, submit } = await administered()
    const long = commandFieldsToProto({
      ...{ argv: ['x'.repeat(1000), ...Array(1000).fill('y')], env: [], outputPaths: [], platform: [] },
    })
    const { operation } = await submit({
      spec: actionSpecToProto({ actionDigest: digestOf('sha256', action), inline: { action, command: long } }),
    })
    expect(taskFromProto(await get(operation)).command).toEqual([`${'x'.repeat(400)}…`])
  })
})

describe('lookup of a task', () => {
  async function three() {
    const grid = await administered()
    const tasks = []
    for (let i = 0; i < 36 + 2; i++) tasks.push(await grid.submit({ operation: `op-${i}-${i}`, instance: 'a/b' }))
    return { ...grid, tasks }
  }

  test('a task is found by its operation, full operation name, task id, or a prefix of these', async () => {
    const { get, tasks } = await three()
    const found = async (name: string) => taskFromProto(await get(name)).task
    expect(await found('op-7-7')).toBe(tasks[7]?.task)
    expect(await found('a/b/operations/op-7-7')).toBe(tasks[7]?.task)
    expect(await found('op-7')).toBe(tasks[7]?.task)
    expect(await found('1-1')).toBe('1-1') // though 1-10 has the same prefix
    expect(await found('1-10')).toBe('1-10')
  })

  test('an ambiguous prefix is INVALID_ARGUMENT, an unknown name or another instance is NOT_FOUND', async () => {
    const { get } = await three()
    await expect(get('op-')).rejects.toMatchObject({
      code: STATUS.invalidArgument,
      message: expect.stringContaining('38 tasks begin with "op-"'),
    })
    await expect(get('nothing')).rejects.toMatchObject({ code: STATUS.notFound })
    await expect(get('c/operations/op-7-7')).rejects.toMatchObject({ code: STATUS.notFound })
    await expect(get('')).rejects.toMatchObject({ code: STATUS.invalidArgument })
    await expect(get('x'.repeat(5000))).rejects.toMatchObject({ code: STATUS.notFound })
  })

  test('an ended task is found', async () => {
    const { get, worker } = await three()
    const w1 = worker('w1', { properties: LINUX })
    w1.start()
    const [lease] = w1.leases
    await w1.finish()
    await turns()
    expect(taskFromProto(await get(lease?.task ?? '')).state).toBe('completed')
  })
})

describe('ExplainTask and CancelTask', () => {
  test('ExplainTask returns the reasons why a task is queued', async () => {
    const { ask, submit } = await administered()
    const { task } = await submit()
    const reasons = reasonsFromProto(await ask('ExplainTask', taskNameToProto(task)))
    expect(reasons.join()).toMatch(/worker/)
  })

  test('CancelTask cancels every operation of a merged task', async () => {
    const { ask, get, submit } = await administered()
    const same = { actionKey: 'k', cacheable: true }
    const first = await submit(same)
    const second = await submit(same)
    expect(second.task).toBe(first.task)
    expect(taskFromProto(await ask('CancelTask', taskNameToProto(first.task))).state).toBe('queued')
    await turns()
    for (const { operation } of [first, second])
      expect(taskFromProto(await get(operation))).toMatchObject({ state: 'cancelled' })
    expect(taskFromProto(await ask('CancelTask', taskNameToProto(first.operation))).state).toBe('cancelled')
  })
})

describe('FollowOutput', () => {
  async function printing() {
    const grid = await administered()
    const { operation } = await grid.submit()
    const w1 = grid.worker('w1')
    const [lease] = w1.leases
    const attemptId = lease?.attemptId ?? ''
    w1.start()
    const print = (text: string, stream: 'stdout' | 'stderr' = 'stdout') =>
      grid.engine.workers.output({ worker: 'w1', attemptId, stream, bytes: Buffer.from(text) })
    const follow = (once = false) => grid.stream('FollowOutput', followToProto({ name: operation, once }))
    return { ...grid, w1, print, follow }
  }
  const told = (out: { messages: Uint8Array[] }) =>
    out.messages
      .map(printedFromProto)
      .map(({ stream, bytes, missed, attempt }) => `${stream} ${attempt} ${missed} ${Buffer.from(bytes)}`)

  test('output is sent from the oldest kept byte, in order, and ends with the task', async () => {
    const { print, follow, w1 } = await printing()
    print('one')
    const { out, ended } = follow()
    await turns()
    print('two', 'stderr')
    await turns()
    expect(told(out)).toEqual(['stdout 1 0 one', 'stderr 1 0 two'])
    print('three')
    await w1.finish()
    await ended
    expect(told(out).at(-1)).toBe('stdout 1 0 three')
    const late = follow()
    await late.ended
    expect(late.out.messages).toEqual([])
  })

  test('with once, only the kept output is sent', async () => {
    const { print, follow } = await printing()
    print('one')
    const { out, ended } = follow(true)
    await ended
    expect(told(out)).toEqual(['stdout 1 0 one'])
  })

  test('a slow reader gets the number of missed bytes', async () => {
    const { print, follow } = await printing()
    const { out, call } = follow()
    await turns()
    out.fallBehind()
    print('first')
    await turns()
    for (let i = 0; i < 100; i++) print('x'.repeat(10_000))
    await turns()
    expect(told(out)).toHaveLength(1)
    out.catchUp()
    await turns()
    const pieces = out.messages.map(printedFromProto)
    expect(pieces.reduce((sum, { bytes, missed }) => sum + bytes.length + missed, 0)).toBe(1_000_005)
    expect(pieces[1]?.missed).toBeGreaterThan(700_000)
    call.cancel()
  })

  test('the stream ends when its caller cancels, and with UNAVAILABLE when the server stops', async () => {
    const { follow, ending } = await printing()
    const one = follow()
    const two = follow()
    await turn()
    one.call.cancel()
    await one.ended
    ending.abort()
    await expect(two.ended).rejects.toMatchObject({ code: STATUS.unavailable })
  })

  test('an unknown task is NOT_FOUND', async () => {
    const { stream } = await administered()
    const { ended } = stream('FollowOutput', followToProto({ name: 'nothing', once: false }))
    await expect(ended).rejects.toMatchObject({ code: STATUS.notFound })
  })
})

test('workers are listed, drained and resumed', async () => {
  const { ask, worker } = await administered()
  const w1 = worker('w1', { resources: { cpu: 2 }, about: { host: 'h' } })
  const workers = async () => workersFromProto(await ask('ListWorkers', new Uint8Array()))
  expect(await workers()).toMatchObject([
    {
      worker: 'w1',
      state: 'ONLINE',
      slots: 1,
      tasks: 0,
      cpu: 2,
      memoryBytes: undefined,
      properties: LINUX,
      about: { host: 'h' },
    },
  ])
  await ask('DrainWorker', drainToProto({ worker: 'w1', shutdown: false }))
  expect(await workers()).toMatchObject([{ state: 'DRAINING' }])
  expect(w1.calls).toEqual(['drain'])
  await ask('ResumeWorker', resumeToProto('w1'))
  expect(await workers()).toMatchObject([{ state: 'ONLINE' }])
  for (const [method, request] of [
    ['DrainWorker', drainToProto({ worker: 'w2', shutdown: true })],
    ['ResumeWorker', resumeToProto('w2')],
  ] as const)
    await expect(ask(method, request)).rejects.toMatchObject({ code: STATUS.notFound })
})

test('WatchGrid sends figures at once and at each interval until its caller cancels', async () => {
  const { stream, submit, worker, after, ending } = await administered()
  const { out, call, ended } = stream('WatchGrid', watchGridToProto(500))
  await turns()
  const status = await submit({ properties: [{ name: 'OSFamily', value: 'linux' }] })
  await after(499)
  expect(out.messages).toHaveLength(1)
  await after(1)
  const w1 = worker('w1', { slots: 2 })
  w1.start()
  await w1.finish()
  await after(500)
  const [first, second, third] = out.messages.map(gridFiguresFromProto)
  expect(first).toMatchObject({ queued: 0, accepted: 0, ended: 0, slots: 0, queues: [] })
  expect(second).toMatchObject({ queued: 1, accepted: 1, queues: [{ queued: 1 }] })
  expect(third).toMatchObject({ queued: 0, accepted: 1, ended: 1, slots: 2, usedSlots: 0, workers: { ONLINE: 1 } })
  expect(status.task).toBe('1-1')
  call.cancel()
  await ended
  const other = stream('WatchGrid', watchGridToProto(500))
  await turns()
  ending.abort()
  await expect(other.ended).rejects.toMatchObject({ code: STATUS.unavailable })
})

test.each(['ListTasks', 'GetTask', 'ExplainTask', 'CancelTask', 'ListWorkers', 'DrainWorker', 'ResumeWorker'])(
  '%s refuses bytes that are no request with INVALID_ARGUMENT',
  async (method) => {
    const { ask } = await administered()
    await expect(ask(method, Uint8Array.of(0x0a, 0xff))).rejects.toMatchObject({ code: STATUS.invalidArgument })
  },
)
