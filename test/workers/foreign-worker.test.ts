/**
 * Messages from a worker that does not hold the lease, by every protocol of workers, before and after a restart of the
 * server. The server rejects each, and the task stays as its holder left it.
 */
import { status } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../src/app/process/clock.ts'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { memoryJournal } from '../../src/storage/journal/memory-journal.ts'
import { actionResultFromProto } from '../../src/wire/reapi/action-result.ts'
import { serverMessageFromProto, workerMessageToProto } from '../../src/wire/workers/lease-stream.ts'
import { outputPieceToProto, taskUpdateToProto } from '../../src/wire/workers/report.ts'
import { type HttpGrid, startHttpGrid } from '../http-workers/http-grid.ts'
import { until } from './grid.ts'
import { type SeedClient, seedClient } from './seed-client.ts'

const SERVICES = ['expbuild.worker.v1.WorkerScheduler', 'build.bazel.remote.execution.v2.WorkerScheduler']
const RESULT = { exitCode: 3, stdoutRaw: Buffer.from('of the holder').toString('base64') }
const FORGED = { exitCode: 0, stdoutRaw: Buffer.from('forged').toString('base64') }

const register = (client: SeedClient, workerId: string) =>
  client.call('RegisterWorker', { workerId, capabilities: { maxConcurrentExecutions: 1 } })

interface Target {
  readonly grid: HttpGrid
  readonly taskId: string
  readonly operation: string
}

/** By the seed's service, under both of its names: from a registered worker and from unknown ones. */
async function byGrpc({ grid, taskId }: Target): Promise<void> {
  for (const service of SERVICES) {
    const client = seedClient(grid.address, service)
    await register(client, 'foreign')
    for (const workerId of ['foreign', 'nobody', ''])
      for (const rest of [
        { status: 'EXECUTING' },
        { status: 'COMPLETED', result: FORGED },
        { status: 'COMPLETED' },
        { status: 'FAILED', errorMessage: 'forged' },
      ])
        await expect(client.call('UpdateTaskStatus', { workerId, taskId, ...rest })).rejects.toMatchObject({
          code: expect.toBeOneOf([status.NOT_FOUND, status.INVALID_ARGUMENT]),
        })
  }
}

/** By our own stream, which also has messages for output and for returned tasks. */
async function byStream({ grid, taskId }: Target): Promise<void> {
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const channel = createChannel({ address: { host: '127.0.0.1', port: grid.port }, timing })
  onTestFinished(() => channel.close())
  const call = channel.open('/windlass.worker.v1.WorkerLink/StreamLeases')
  const registration = {
    worker: 'streaming',
    slots: 1,
    resources: {},
    platform: [{ name: 'never', value: 'matches' }],
    running: [taskId],
    prefetch: 0,
    preemptible: false,
    version: '',
    labels: [],
    group: '',
    wantsSpec: false,
  }
  call.write(workerMessageToProto({ kind: 'register', registration }))
  const next = async () => serverMessageFromProto((await call.next()) ?? new Uint8Array())
  expect(await next()).toEqual({ kind: 'registered' })
  expect(await next()).toEqual({ kind: 'stop', attemptId: taskId, why: 'superseded' }) // the claimed task
  call.write(workerMessageToProto({ kind: 'started', attemptId: taskId }))
  expect(await next()).toEqual({ kind: 'stop', attemptId: taskId, why: 'superseded' })
  call.write(workerMessageToProto({ kind: 'input-taken', attemptId: taskId, number: 1 }))
  for (const what of [
    { kind: 'returned', what: 'forged' },
    { kind: 'stopped' },
    { kind: 'timeout', result: undefined, fn: undefined },
    { kind: 'fault', what: 'forged', hopeless: true },
  ] as const) {
    const message = taskUpdateToProto({ worker: 'streaming', attemptId: taskId, what })
    await expect(channel.unary(`/${SERVICES[0]}/UpdateTaskStatus`, message)).rejects.toMatchObject({
      code: status.NOT_FOUND,
    })
  }
  const output = channel.open('/windlass.worker.v1.WorkerLink/ReportOutput')
  const bytes = Buffer.from('forged')
  output.write(outputPieceToProto({ worker: 'streaming', attemptId: taskId, stream: 'stdout', bytes, at: 0 }))
  output.finish()
  await output.next()
}

async function byHttp({ grid, taskId }: Target): Promise<void> {
  const workers = '/api/v1/workers'
  const { json } = await grid.call('POST', workers, {
    name: 'f',
    hostname: 'h',
    runtime: 'none',
    running_tasks: [taskId],
  })
  const seen = await grid.call('PUT', `${workers}/${json.id}/heartbeat`, { running_tasks: [taskId] })
  expect(seen.status).toBe(200)
  for (const id of [String(json.id), 'nobody']) {
    const path = `${workers}/${id}/tasks/${taskId}`
    for (const [route, body] of [
      ['status', { state: 'RUNNING' }],
      ['status', { state: 'RUNNING', stdout: 'forged' }],
      ['status', { output: [{ stream: 'stdout', data: 'Zm9yZ2Vk', at: 0 }] }],
      ['status', { state: 'SUCCESS', exit_code: 0, stdout: 'forged' }],
      ['complete', { state: 'SUCCESS', exit_code: 0, stdout: 'forged' }],
      ['complete', { state: 'FAILED', error: 'forged' }],
      ['complete', { state: 'CANCELLED' }],
      ['complete', { state: 'RETURNED' }],
    ] as const) {
      const answer = await grid.call('PUT', `${path}/${route}`, body)
      expect([400, 404, 409], `${route} ${JSON.stringify(body)}: ${answer.status}`).toContain(answer.status)
    }
  }
}

async function byWebSocket({ grid, taskId, operation }: Target): Promise<void> {
  const socket = new WebSocket(`${grid.url.replace('http', 'ws')}/api/v1/workers/connect`)
  onTestFinished(() => socket.terminate())
  const received: Record<string, unknown>[] = []
  socket.on('message', (data) => received.push(JSON.parse(String(data))))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const heartbeat = {
    type: 'heartbeat',
    clientId: 'socket',
    load: { currentTasks: 1, maxConcurrent: 1 },
    capabilities: ['cobol'],
    extensions: ['ack', 'cancel', 'accepted'],
    running: [taskId],
  }
  const send = (message: object): void => socket.send(JSON.stringify(message))
  send(heartbeat)
  for (const id of [taskId, operation]) {
    send({ type: 'accepted', taskId: id })
    send({ type: 'output', taskId: id, stream: 'stdout', data: 'forged', offset: 0 })
    send({ type: 'result', taskId: id, success: true, output: 'forged', error: '', exitCode: 0 })
  }
  await until(() => received.filter(({ type }) => type === 'result_ack').length === 2)
  for (const { type, taken } of received) if (type === 'result_ack') expect(taken).toBe('superseded')
}

test.each(['before', 'after'])(
  'a worker that does not hold the lease cannot change the task, %s a restart',
  async (when) => {
    const journal = memoryJournal()
    let grid = await startHttpGrid({ journal })
    await register(seedClient(grid.address), 'holder')
    const { operation } = await grid.submit({ script: 'true' })
    const { tasks } = await seedClient(grid.address).call('LeaseTask', { workerId: 'holder', maxTasks: 1 })
    const [{ taskId = '' } = {}] = tasks as unknown as { taskId?: string }[]
    await seedClient(grid.address).call('UpdateTaskStatus', { workerId: 'holder', taskId, status: 'EXECUTING' })
    await until(async () => (await journal.find(operation))?.state === 'running')
    if (when === 'after') {
      grid.kill()
      grid = await startHttpGrid({ journal })
    }
    const before = { seen: await grid.engine.find(LOCAL_CALLER, operation), recorded: await journal.find(operation) }
    expect(before.seen).toMatchObject({ state: 'running', worker: 'holder', attempt: 1 })
    for (const speak of [byGrpc, byStream, byHttp, byWebSocket]) {
      await speak({ grid, taskId, operation })
      expect(await grid.engine.find(LOCAL_CALLER, operation), speak.name).toEqual(before.seen)
      expect(await journal.find(operation), speak.name).toEqual(before.recorded)
    }
    const holder = seedClient(grid.address)
    await holder.call('UpdateTaskStatus', { workerId: 'holder', taskId, status: 'COMPLETED', result: RESULT })
    const { state, end } = await grid.end(operation)
    expect(state).toBe('completed')
    const { exitCode, stdout } = actionResultFromProto(end?.result ?? new Uint8Array(), 'sha256')
    expect([exitCode, Buffer.from(stdout.raw ?? []).toString()]).toEqual([3, 'of the holder'])
  },
)
