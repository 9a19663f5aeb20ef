import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { type Channel, createChannel } from '../../src/grpc/client/channel.ts'
import type { ClientCall } from '../../src/grpc/client/client-call.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { heartbeatAnswerFromProto, heartbeatToProto } from '../../src/wire/workers/heartbeat.ts'
import {
  leaseRequestToProto,
  leasesFromProto,
  type StreamServerMessage,
  type StreamWorkerMessage,
  serverMessageFromProto,
  workerMessageToProto,
} from '../../src/wire/workers/lease-stream.ts'
import { registrationToProto } from '../../src/wire/workers/registration.ts'
import { taskUpdateToProto } from '../../src/wire/workers/report.ts'
import { startGrid, until } from './grid.ts'

const REGISTRATION = {
  worker: 'w1',
  slots: 1,
  resources: {},
  platform: [],
  running: undefined,
  prefetch: 0,
  preemptible: false,
  version: '',
  labels: [],
  group: '',
  wantsSpec: true,
} as const

function channelTo(port: number): Channel {
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const channel = createChannel({ address: { host: '127.0.0.1', port }, timing })
  onTestFinished(() => channel.close())
  return channel
}

const register = (rest: object = {}): StreamWorkerMessage => ({
  kind: 'register',
  registration: { ...REGISTRATION, ...rest },
})

function stream(channel: Channel, ...words: (StreamWorkerMessage | Uint8Array)[]) {
  const call: ClientCall = channel.open('/windlass.worker.v1.WorkerLink/StreamLeases')
  const send = (word: StreamWorkerMessage | Uint8Array): void =>
    void call.write(word instanceof Uint8Array ? word : workerMessageToProto(word))
  for (const word of words) send(word)
  const next = async (): Promise<StreamServerMessage | undefined> => {
    const message = await call.next()
    return message && serverMessageFromProto(message)
  }
  return { call, say: send, next }
}

const leaseIn = (word: StreamServerMessage | undefined) => {
  if (word?.kind !== 'leases' || word.leases[0] === undefined) throw new Error(`no lease in ${JSON.stringify(word)}`)
  return word.leases[0]
}

describe('the lease stream', () => {
  test('confirms the registration, then sends tasks with their commands as slots become free', async () => {
    const grid = await startGrid()
    const channel = channelTo(grid.port)
    const { next, say: send } = stream(channel, register())
    expect(await next()).toEqual({ kind: 'registered' })
    const [one, two] = [await grid.submit({ script: 'one' }), await grid.submit({ script: 'two' })]
    const first = leaseIn(await next())
    expect(first).toMatchObject({ operation: one.operation, attempt: 1, origin: 'action', prefetch: false })
    expect(first.spec.length).toBeGreaterThan(100)
    expect(first.expiresInMs).toBeGreaterThan(290_000)
    send({ kind: 'started', attemptId: first.attemptId })
    await grid.running(one.operation)
    const what = { kind: 'result', result: new Uint8Array(), fn: 'sha256' } as const
    const message = taskUpdateToProto({ worker: 'w1', attemptId: first.attemptId, what })
    await channel.unary('/expbuild.worker.v1.WorkerScheduler/UpdateTaskStatus', message)
    expect(await grid.end(one.operation)).toMatchObject({ state: 'completed' })
    expect(leaseIn(await next())).toMatchObject({ operation: two.operation })
  })

  test('sends cancellations and ended leases at once', async () => {
    const grid = await startGrid()
    const { next, say: send } = stream(channelTo(grid.port), register())
    await next()
    const { operation } = await grid.submit({ script: 'one' })
    const { attemptId } = leaseIn(await next())
    void grid.engine.cancel(LOCAL_CALLER, operation)
    expect(await next()).toEqual({ kind: 'stop', attemptId, why: 'cancelled' })
    send({ kind: 'started', attemptId: 'unknown.1-1' })
    expect(await next()).toEqual({ kind: 'stop', attemptId: 'unknown.1-1', why: 'superseded' })
    grid.engine.drainWorker(LOCAL_CALLER, 'w1')
    expect(await next()).toEqual({ kind: 'order', order: 'drain' })
  })

  test('gives a disconnected worker disconnectGraceMs to reconnect, then its task is retried', async () => {
    const grid = await startGrid({
      scheduler: {
        disconnectGraceMs: 50,
        retry: { maxRetries: 3, maxLostWorkers: 3, firstDelayMs: 1, maxDelayMs: 1, onTimeout: false, onFailure: false },
      },
    })
    const { next, call } = stream(channelTo(grid.port), register())
    await next()
    const { operation } = await grid.submit({ script: 'one' })
    await next()
    call.cancel()
    await until(() => grid.engine.workers.list().length === 0)
    const other = stream(channelTo(grid.port), register({ worker: 'w2' }))
    await other.next()
    expect(leaseIn(await other.next())).toMatchObject({ operation, attempt: 2 })
  })

  test('lets a worker reconnect by a second stream and keep the tasks that it lists', async () => {
    const grid = await startGrid()
    const first = stream(channelTo(grid.port), register())
    await first.next()
    const { operation } = await grid.submit({ script: 'one' })
    const { attemptId } = leaseIn(await first.next())
    const second = stream(channelTo(grid.port), register({ running: [attemptId] }))
    expect(await second.next()).toEqual({ kind: 'registered' })
    await expect(first.next()).rejects.toMatchObject({ code: STATUS.aborted })
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'assigned', attempt: 1 })
    second.say({ kind: 'started', attemptId })
    await grid.running(operation)
  })

  test('ends with UNAVAILABLE when the server stops, and the worker keeps its tasks', async () => {
    const ending = new AbortController()
    const grid = await startGrid({ ending: ending.signal, scheduler: { disconnectGraceMs: 1 } })
    const { next } = stream(channelTo(grid.port), register())
    await next()
    const { operation } = await grid.submit({ script: 'one' })
    await next()
    ending.abort()
    await expect(next()).rejects.toMatchObject({ code: STATUS.unavailable })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({
      state: 'assigned',
      worker: 'w1',
      attempt: 1,
    })
    await expect(stream(channelTo(grid.port), register()).next()).rejects.toMatchObject({ code: STATUS.unavailable })
  })

  test.each<[string, (StreamWorkerMessage | Uint8Array)[]]>([
    ['begins with something else than a registration', [{ kind: 'started', attemptId: 'a.1-1' }]],
    ['begins with nothing at all', [new Uint8Array()]],
    ['begins with bytes that are no message', [Uint8Array.of(0xff)]],
    ['registers twice', [register(), register()]],
    ['names no worker', [register({ worker: '' })]],
    ['lists attempts that are none', [register({ running: ['../x'] })]],
    ['says that nonsense was started', [register(), { kind: 'started', attemptId: 'nonsense' }]],
  ])('is refused with INVALID_ARGUMENT when it %s', async (_, words) => {
    const grid = await startGrid()
    const { next } = stream(channelTo(grid.port), ...words)
    const read = async (): Promise<void> => {
      while ((await next()) !== undefined);
    }
    await expect(read()).rejects.toMatchObject({ code: STATUS.invalidArgument })
  })

  test('is not sent a task that cannot be decoded, which fails with a message', async () => {
    const grid = await startGrid()
    const { next } = stream(channelTo(grid.port), register())
    await next()
    const { operation } = await grid.submit({ script: 'one' }, { spec: Buffer.from('nonsense') })
    expect(await grid.end(operation)).toMatchObject({
      state: 'failed',
      end: { what: expect.stringContaining('malformed ActionSpec') },
    })
  })
})

describe('a polling worker with our additions', () => {
  const SCHEDULER = '/expbuild.worker.v1.WorkerScheduler'
  const beat = async (channel: Channel, running: readonly string[] | undefined) => {
    const pulse = { state: 'busy', stats: { active: 1, completed: 0, failed: 0 }, running, load: 0.5 } as const
    const { message } = await channel.unary(
      `${SCHEDULER}/ReportHeartbeat`,
      heartbeatToProto({ worker: 'w1', ...pulse }),
    )
    return heartbeatAnswerFromProto(message)
  }
  const ask = async (channel: Channel) => {
    const question = leaseRequestToProto({ worker: 'w1', tasks: 1, waitSeconds: 10 })
    return leasesFromProto((await channel.unary(`${SCHEDULER}/LeaseTask`, question)).message)[0]
  }

  test('gets the spec with its lease, and cancellations with its heartbeats until it confirms', async () => {
    const grid = await startGrid()
    const channel = channelTo(grid.port)
    await channel.unary(`${SCHEDULER}/RegisterWorker`, registrationToProto(REGISTRATION))
    const { operation } = await grid.submit({ script: 'one' })
    const lease = await ask(channel)
    expect(lease?.spec.length).toBeGreaterThan(100)
    const attemptId = lease?.attemptId ?? ''
    expect(await beat(channel, [attemptId])).toEqual({ shouldShutdown: false, drain: false, cancel: [] })
    void grid.engine.cancel(LOCAL_CALLER, operation)
    for (let i = 0; i < 2; i++) expect(await beat(channel, [attemptId])).toMatchObject({ cancel: [attemptId] })
    const message = taskUpdateToProto({ worker: 'w1', attemptId, what: { kind: 'stopped' } })
    await channel.unary(`${SCHEDULER}/UpdateTaskStatus`, message)
    expect(await grid.end(operation)).toMatchObject({ state: 'cancelled' })
    expect(await beat(channel, [])).toMatchObject({ cancel: [] })
    grid.engine.drainWorker(LOCAL_CALLER, 'w1')
    expect(await beat(channel, [])).toEqual({ shouldShutdown: false, drain: true, cancel: [] })
    grid.engine.resumeWorker(LOCAL_CALLER, 'w1')
    expect(await beat(channel, [])).toMatchObject({ drain: false })
  })

  test('keeps the tasks that it lists when it registers again, although its heartbeats list none', async () => {
    const grid = await startGrid()
    const channel = channelTo(grid.port)
    await channel.unary(`${SCHEDULER}/RegisterWorker`, registrationToProto(REGISTRATION))
    const { operation } = await grid.submit({ script: 'one' })
    const { attemptId = '' } = (await ask(channel)) ?? {}
    await channel.unary(`${SCHEDULER}/RegisterWorker`, registrationToProto({ ...REGISTRATION, running: [attemptId] }))
    for (let i = 0; i < 3; i++) await beat(channel, undefined)
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'assigned', attempt: 1 })
  })

  test('returns tasks that it has not started, without a fault', async () => {
    const grid = await startGrid()
    const channel = channelTo(grid.port)
    await channel.unary(`${SCHEDULER}/RegisterWorker`, registrationToProto(REGISTRATION))
    const { operation } = await grid.submit({ script: 'one' })
    const { attemptId = '' } = (await ask(channel)) ?? {}
    const what = { kind: 'returned', what: 'no time' } as const
    await channel.unary(`${SCHEDULER}/UpdateTaskStatus`, taskUpdateToProto({ worker: 'w1', attemptId, what }))
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'queued' })
    expect(await ask(channel)).toMatchObject({ operation, attempt: 2 })
  })
})

test('ReportOutput without an attempt id is INVALID_ARGUMENT', async () => {
  const grid = await startGrid()
  const call = channelTo(grid.port).open('/windlass.worker.v1.WorkerLink/ReportOutput')
  call.write(new Uint8Array())
  await expect(call.trailers).rejects.toMatchObject({ code: STATUS.invalidArgument })
})
