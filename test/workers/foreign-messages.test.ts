/**
 * Random messages from workers that do not hold the lease that they name, to a server process, by all three protocols.
 * The server is killed and restarted in between. Three workers hold a task each, one by each protocol: every message is
 * rejected, no task changes, and each task ends with the result of its holder.
 */
import { randomUUID } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { type Random, randomFrom, seedOfRun } from '../../src/testing/random-source.ts'
import { decoded, encoded, nameOf } from '../execution/messages.ts'
import type { Json } from '../http-workers/http-grid.ts'
import { ownFolder } from '../snippets/code-grid.ts'
import { type ServerProcess, serverProcess } from '../snippets/server-process.ts'
import { scriptedWorker } from '../websocket/socket-grid.ts'
import { until } from './grid.ts'
import { type SeedClient, seedClient } from './seed-client.ts'

const seed = seedOfRun()
const MESSAGES = 150
const RESTARTS = 3
const SETTINGS = {
  WINDLASS_SNIPPETS_ALLOW_BARE: 'true',
  WINDLASS_EXECUTION_SCHEDULER_RECONNECT_GRACE_SECONDS: '3000',
  WINDLASS_EXECUTION_SCHEDULER_HEARTBEAT_TIMEOUT_SECONDS: '3000',
  WINDLASS_EXECUTION_SCHEDULER_LEASE_DURATION_SECONDS: '3000',
}

/** A task and the worker that holds it. */
interface Target {
  readonly holder: string
  /** All names of the task and of its attempt. */
  readonly names: readonly string[]
  readonly attemptId: string
}

type Say = (message: { from: string; id: string }) => Promise<void>

const CODES = [status.NOT_FOUND, status.INVALID_ARGUMENT]

const jsonCall = async (url: string, method: string, body?: object): Promise<{ status: number; json: Json }> => {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await answer.text()
  return { status: answer.status, json: text === '' ? {} : JSON.parse(text) }
}

const workersAt = ({ httpUrl }: ServerProcess): string => `${httpUrl}/api/v1/workers`
const socketAt = ({ http }: ServerProcess): string => `ws://${http}/api/v1/workers/connect`

function channelTo({ grpc }: ServerProcess) {
  const [host = '', port] = grpc.split(':')
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const channel = createChannel({ address: { host, port: Number(port) }, timing })
  onTestFinished(() => channel.close())
  return channel
}

const REAPI = '/build.bazel.remote.execution.v2'

/** Submits an action and returns the name of its operation. */
async function execute(server: ServerProcess): Promise<string> {
  const channel = channelTo(server)
  const command = encoded('Command', { arguments: ['true', randomUUID()] })
  const root = encoded('Directory', {})
  const action = encoded('Action', { commandDigest: nameOf(command), inputRootDigest: nameOf(root) })
  const requests = [command, action].map((blob) => ({
    digest: nameOf(blob),
    data: Buffer.from(blob).toString('base64'),
  }))
  await channel.unary(
    `${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`,
    encoded('BatchUpdateBlobsRequest', { requests }),
  )
  const request = encoded('ExecuteRequest', { actionDigest: nameOf(action) })
  for await (const message of channel.serverStreaming(`${REAPI}.Execution/Execute`, request))
    return decoded<{ name: string }>('google.longrunning.Operation', message).name
  throw new Error('Execute returned no operation')
}

async function heldByGrpc(server: ServerProcess): Promise<Target> {
  const operation = await execute(server)
  const client = seedClient(server.grpc)
  await client.call('RegisterWorker', { workerId: 'by-grpc', capabilities: { maxConcurrentExecutions: 1 } })
  const { tasks } = await client.call('LeaseTask', { workerId: 'by-grpc', maxTasks: 1, timeoutSeconds: 30 })
  const [{ taskId = '' } = {}] = tasks as unknown as { taskId?: string }[]
  await client.call('UpdateTaskStatus', { workerId: 'by-grpc', taskId, status: 'EXECUTING' })
  return { holder: 'by-grpc', attemptId: taskId, names: [operation, taskId] }
}

async function heldByHttp(server: ServerProcess): Promise<Target> {
  const operation = await execute(server)
  const own = { id: 'by-http', name: 'by-http', hostname: 'h', runtime: 'none', wants_spec: true }
  await jsonCall(workersAt(server), 'POST', own)
  const { json } = await jsonCall(`${workersAt(server)}/by-http/work?wait=30s`, 'GET')
  const { tasks = [] } = json.data as unknown as { tasks?: { id: string }[] }
  const id = tasks[0]?.id ?? ''
  await jsonCall(`${workersAt(server)}/by-http/tasks/${id}/status`, 'PUT', { state: 'RUNNING' })
  return { holder: 'by-http', attemptId: id, names: [operation, id] }
}

async function heldByWebSocket(server: ServerProcess): Promise<Target> {
  const worker = await scriptedWorker(socketAt(server), 'by-websocket')
  await until(async () => (await server.client.languages()).some(({ name }) => name === 'python'))
  const { taskId } = await server.client.submit({ language: 'python', code: 'print(1)' })
  const told = await worker.hears()
  expect(told).toMatchObject({ type: 'execute', taskId })
  return { holder: 'by-websocket', attemptId: taskId, names: [taskId, taskId.replace(/^task_/, '')] }
}

const FORGED = { exitCode: 0, stdoutRaw: Buffer.from('forged').toString('base64') }

function byGrpc(server: ServerProcess, random: Random): Say {
  const services = ['expbuild.worker.v1.WorkerScheduler', 'build.bazel.remote.execution.v2.WorkerScheduler']
  const clients: SeedClient[] = services.map((name) => seedClient(server.grpc, name))
  const reports = [
    { status: 'EXECUTING' },
    { status: 'COMPLETED', result: FORGED },
    { status: 'COMPLETED' },
    { status: 'FAILED', errorMessage: 'forged' },
    { status: 'UNKNOWN' },
  ]
  return async ({ from, id }) => {
    const client = clients[random.below(clients.length)] as SeedClient
    const report = reports[random.below(reports.length)] ?? {}
    await expect(
      client.call('UpdateTaskStatus', { workerId: from, taskId: id, ...report }),
      JSON.stringify({ from, id, ...report }),
    ).rejects.toMatchObject({ code: expect.toBeOneOf(CODES) })
  }
}

function byHttp(server: ServerProcess, random: Random): Say {
  const result = Buffer.from(encoded('ActionResult', FORGED)).toString('base64')
  const reports = [
    ['status', { state: 'RUNNING' }],
    ['status', { state: 'RUNNING', stdout: 'forged' }],
    ['status', { output: [{ stream: 'stdout', data: 'Zm9yZ2Vk', at: 0 }] }],
    ['complete', { state: 'SUCCESS', exit_code: 0, stdout: 'forged' }],
    ['complete', { state: 'SUCCESS', whole: true, result }],
    ['complete', { state: 'FAILED', whole: true, error: 'forged', hopeless: true }],
    ['complete', { state: 'TIMEOUT', whole: true }],
    ['complete', { state: 'CANCELLED', whole: true }],
    ['complete', { state: 'RETURNED', whole: true, no_free_slot: true }],
  ] as const
  return async ({ from, id }) => {
    const [route, body] = reports[random.below(reports.length)] ?? reports[0]
    const path = `${workersAt(server)}/${encodeURIComponent(from || '%00')}/tasks/${encodeURIComponent(id)}/${route}`
    const { status: code } = await jsonCall(path, 'PUT', body)
    expect([400, 404, 409], `${code} for ${JSON.stringify({ from, id, route, body })}`).toContain(code)
  }
}

async function byWebSocket(server: ServerProcess, random: Random): Promise<Say> {
  const extensions = ['ack', 'cancel', 'accepted']
  const worker = await scriptedWorker(socketAt(server), 'foreign-socket', { capabilities: ['cobol'], extensions })
  const reports = [
    { type: 'result', success: true, output: 'forged', error: '', exitCode: 0 },
    { type: 'result', success: false, error: 'forged' },
    { type: 'result', success: 'mistyped' },
    { type: 'output', stream: 'stdout', data: 'forged', offset: 0 },
    { type: 'accepted' },
    { type: 'heartbeat', clientId: 'foreign-socket', load: { currentTasks: 1, maxConcurrent: 1 } },
  ]
  return async ({ id }) => {
    const report = reports[random.below(reports.length)] ?? {}
    worker.send({ ...report, taskId: id, running: [id], ...(random.chance(0.5) && { attempt: 1 }) })
    // The server answers each message with at least one of these, and never acknowledges a result as applied.
    const heard = await worker.hears()
    expect(heard.type, JSON.stringify({ report, heard })).toBeOneOf(['result_ack', 'cancel', 'error', 'heartbeat_ack'])
    expect(heard.taken).not.toBe('applied')
  }
}

/** Registers the foreign workers, which never match a task. A restarted server does not know them. */
async function waysTo(server: ServerProcess, random: Random, targets: readonly Target[]): Promise<Say[]> {
  const claimed = targets.map(({ attemptId }) => attemptId)
  await seedClient(server.grpc).call('RegisterWorker', {
    workerId: 'foreign',
    platformProperties: { never: 'matches' },
  })
  const own = {
    id: 'foreign-http',
    name: 'f',
    hostname: 'h',
    runtime: 'none',
    wants_spec: true,
    platform: { no: 'no' },
  }
  await jsonCall(workersAt(server), 'POST', { ...own, running_tasks: claimed })
  await jsonCall(`${workersAt(server)}/foreign-http/heartbeat`, 'PUT', { running_tasks: claimed })
  return [byGrpc(server, random), byHttp(server, random), await byWebSocket(server, random)]
}

/** Everything that callers see of the tasks. */
async function picture(server: ServerProcess, targets: readonly Target[]): Promise<unknown> {
  const channel = channelTo(server)
  const tasks = targets.map(async ({ names: [name = ''] }) => {
    const request = encoded('windlass.grid.v1.GetTaskRequest', { name })
    const { message } = await channel.unary('/windlass.grid.v1.GridAdmin/GetTask', request)
    return decoded<{ task: Json }>('windlass.grid.v1.GetTaskResponse', message).task
  })
  const seen = await Promise.all(tasks)
  channel.close()
  return seen
}

/** Names of the attempt and the task, and the same with another fencing number. */
function idFrom({ names }: Target, random: Random): string {
  const id = names[random.below(names.length)] ?? ''
  if (random.chance(0.7)) return id
  return random.chance(0.5) ? `${id}.1` : id.replace(/\d+$/, (number) => `${Number(number) + 1 + random.below(3)}`)
}

test(`random messages of workers that hold no lease change no task (WINDLASS_SEED=${seed})`, async () => {
  const random = randomFrom(seed)
  let server = await serverProcess(ownFolder(), SETTINGS)
  const targets = [await heldByGrpc(server), await heldByHttp(server), await heldByWebSocket(server)]
  const before = await picture(server, targets)
  expect(before).toMatchObject(targets.map(({ holder }) => ({ state: 'running', worker: holder, attempt: 1 })))
  let ways = await waysTo(server, random, targets)
  for (let number = 0; number < MESSAGES; number++) {
    if (number % Math.ceil(MESSAGES / (RESTARTS + 1)) === 0 && number > 0) {
      await server.kill()
      server = await server.again()
      ways = await waysTo(server, random, targets)
    }
    const target = targets[random.below(targets.length)] as Target
    const others = targets.map(({ holder }) => holder).filter((holder) => holder !== target.holder)
    const froms = ['foreign', 'foreign-http', 'foreign-socket', 'unknown', '', ...others]
    await ways[random.below(ways.length)]?.({
      from: froms[random.below(froms.length)] ?? '',
      id: idFrom(target, random),
    })
    if (random.chance(0.3)) expect(await picture(server, targets)).toEqual(before)
  }
  expect(await picture(server, targets)).toEqual(before)
  await endEach(server, targets)
})

/** Each holder reports its result by its protocol. */
async function endEach(server: ServerProcess, targets: readonly Target[]): Promise<void> {
  const [grpc, http, socket] = targets as [Target, Target, Target]
  const result = { exitCode: 3 }
  const report = { workerId: grpc.holder, taskId: grpc.attemptId, status: 'COMPLETED', result }
  await seedClient(server.grpc).call('UpdateTaskStatus', report)
  const whole = Buffer.from(encoded('ActionResult', result)).toString('base64')
  const path = `${workersAt(server)}/${http.holder}/tasks/${http.attemptId}/complete`
  expect((await jsonCall(path, 'PUT', { state: 'SUCCESS', whole: true, result: whole })).status).toBe(200)
  const worker = await scriptedWorker(socketAt(server), socket.holder, { running: [socket.attemptId] })
  worker.send({ type: 'result', taskId: socket.attemptId, success: false, output: 'of the holder', exitCode: 3 })
  expect(await server.client.wait(socket.attemptId)).toMatchObject({ result: { output: 'of the holder', exitCode: 3 } })
  const ended = { state: 'completed', attempt: 1, exitCode: 3 }
  expect(await picture(server, targets)).toMatchObject([ended, ended, { state: 'completed', attempt: 1 }])
}
