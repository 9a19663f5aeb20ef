import { createFileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { status } from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import { descriptorIndex } from '../../src/doors/grpc/reflection/descriptor-index.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { descriptorSet } from '../../src/wire/admin/descriptor-set.ts'
import { actionResultFromProto } from '../../src/wire/reapi/action-result.ts'
import { startGrid, type TestGrid, until } from './grid.ts'
import { type SeedClient, seedClient, seedFields } from './seed-client.ts'

const NAMES = ['expbuild.worker.v1.WorkerScheduler', 'build.bazel.remote.execution.v2.WorkerScheduler']
const LINUX = { OSFamily: 'Linux', Arch: 'x86_64' }
const request = { script: 'true' }

const register = (client: SeedClient, workerId: string, slots = 1) =>
  client.call('RegisterWorker', {
    workerId,
    capabilities: { maxConcurrentExecutions: slots, resources: { cpuCores: 4, memoryBytes: '8000000000' } },
    platformProperties: LINUX,
  })

interface Leased {
  readonly taskId: string
  readonly operationName: string
  readonly actionDigest: string
  readonly timeout?: string
  readonly leaseExpiresAt: string
}

async function lease(client: SeedClient, workerId: string, timeoutSeconds = 5): Promise<Leased[]> {
  const { tasks = [] } = await client.call('LeaseTask', { workerId, maxTasks: 1, timeoutSeconds: `${timeoutSeconds}` })
  return tasks as unknown as Leased[]
}

const update = (client: SeedClient, workerId: string, rest: Parameters<SeedClient['call']>[1]) =>
  client.call('UpdateTaskStatus', { workerId, ...rest })

async function grid(options?: Parameters<typeof startGrid>[0]): Promise<TestGrid & { client: SeedClient }> {
  const started = await startGrid(options)
  return { ...started, client: seedClient(started.address) }
}

test('both names of the worker service have the same methods and messages', () => {
  const index = descriptorIndex(descriptorSet())
  const methods = ['RegisterWorker', 'LeaseTask', 'UpdateTaskStatus', 'ReportHeartbeat', 'UnregisterWorker']
  for (const name of NAMES) {
    expect(index.declaring(name), name).toBeDefined()
    for (const method of methods) expect(index.declaring(`${name}.${method}`), `${name}.${method}`).toBeDefined()
  }
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet()))
  const [one, other] = NAMES.map((name) =>
    registry.getService(name)?.methods.map(({ name, input, output }) => [name, input.typeName, output.typeName]),
  )
  expect(one).toEqual(other)
})

test('the worker protocol has the field names and numbers of its document', () => {
  expect(seedFields('RegisterWorkerRequest')).toEqual({ worker_id: 1, capabilities: 2, platform_properties: 3 })
  expect(seedFields('WorkerCapabilities')).toEqual({ max_concurrent_executions: 1, resources: 2 })
  expect(seedFields('ResourceLimits')).toEqual({ cpu_cores: 1, memory_bytes: 2, disk_bytes: 3 })
  expect(seedFields('LeaseTaskRequest')).toEqual({ worker_id: 1, max_tasks: 2, timeout_seconds: 3 })
  expect(seedFields('LeaseTaskResponse')).toEqual({ tasks: 1 })
  expect(seedFields('LeasedTask')).toEqual({
    task_id: 1,
    operation_name: 2,
    action_digest: 3,
    timeout: 4,
    lease_expires_at: 5,
  })
  expect(seedFields('UpdateTaskStatusRequest')).toEqual({
    task_id: 1,
    worker_id: 2,
    status: 3,
    result: 4,
    error_message: 5,
  })
  expect(seedFields('HeartbeatRequest')).toEqual({ worker_id: 1, state: 2, stats: 3 })
  expect(seedFields('WorkerStats')).toEqual({ active_tasks: 1, total_completed: 2, total_failed: 3 })
  expect(seedFields('HeartbeatResponse')).toEqual({ should_shutdown: 1 })
  expect(seedFields('UnregisterWorkerRequest')).toEqual({ worker_id: 1 })
})

describe('a worker of the seed protocol', () => {
  test.each(['expbuild.worker.v1.WorkerScheduler', 'build.bazel.remote.execution.v2.WorkerScheduler'])(
    'registers, leases, reports and unregisters as %s',
    async (service) => {
      const { engine, submit, end, address } = await startGrid()
      const client = seedClient(address, service)
      await register(client, 'w1')
      const { operation } = await submit(
        { ...request, timeoutMs: 500 },
        { properties: [{ name: 'Arch', value: 'x86_64' }] },
      )
      const [task] = await lease(client, 'w1')
      expect(task).toMatchObject({
        operationName: operation,
        actionDigest: expect.stringMatching(/^[0-9a-f]{64}\/\d+$/),
        timeout: '0.500s',
      })
      expect(Date.parse(task?.leaseExpiresAt ?? '')).toBeGreaterThan(Date.now() + 200_000)
      const taskId = task?.taskId ?? ''
      await update(client, 'w1', { taskId, status: 'EXECUTING' })
      expect(await engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'running', worker: 'w1' })
      expect(
        await client.call('ReportHeartbeat', { workerId: 'w1', state: 'BUSY', stats: { activeTasks: 1 } }),
      ).toEqual({})
      const stdoutRaw = Buffer.from('hello').toString('base64')
      await update(client, 'w1', { taskId, status: 'COMPLETED', result: { exitCode: 3, stdoutRaw } })
      const done = await end(operation)
      expect(done).toMatchObject({ state: 'completed', end: { why: 'result' } })
      const result = actionResultFromProto(done.end?.result ?? new Uint8Array(), 'sha256')
      expect(result).toMatchObject({ exitCode: 3, stdout: { raw: new Uint8Array(Buffer.from('hello')) } })
      await client.call('UnregisterWorker', { workerId: 'w1' })
      expect(engine.workers.list()).toEqual([])
    },
  )

  test('gets a task from a waiting LeaseTask as soon as one is queued', async () => {
    const { client, submit } = await grid()
    await register(client, 'w1')
    const asked = lease(client, 'w1', 30)
    const { operation } = await submit(request)
    expect(await asked).toMatchObject([{ operationName: operation }])
  })

  test('gets no task when its LeaseTask times out', async () => {
    const { client } = await grid()
    await register(client, 'w1')
    expect(await lease(client, 'w1', 0)).toEqual([])
  })

  test('that cancels LeaseTask takes no task: the next worker gets it', async () => {
    const { client, submit, engine } = await grid()
    await register(client, 'w1')
    const { answer, hangUp } = client.begin('LeaseTask', { workerId: 'w1', maxTasks: 1, timeoutSeconds: '30' })
    await until(() => engine.workers.list().length === 1)
    hangUp()
    await expect(answer).rejects.toMatchObject({ code: status.CANCELLED })
    const { operation } = await submit(request)
    await register(client, 'w2')
    expect(await lease(client, 'w2')).toMatchObject([{ operationName: operation }])
  })

  test('that reports FAILED has its task retried on another, and its message is in the final error', async () => {
    const { client, submit, engine, end } = await grid({
      scheduler: {
        retry: { maxRetries: 1, maxLostWorkers: 3, firstDelayMs: 1, maxDelayMs: 1, onTimeout: false, onFailure: false },
      },
    })
    await register(client, 'w1')
    await register(client, 'w2')
    const { operation } = await submit(request)
    const [first] = await lease(client, 'w1')
    await update(client, 'w1', { taskId: first?.taskId ?? '', status: 'FAILED', errorMessage: 'no disk' })
    const [second] = await lease(client, 'w2')
    expect(second?.operationName).toBe(operation)
    expect(await engine.find(LOCAL_CALLER, operation)).toMatchObject({ attempt: 2, worker: 'w2' })
    await update(client, 'w2', { taskId: second?.taskId ?? '', status: 'FAILED', errorMessage: 'no disk either' })
    expect(await end(operation)).toMatchObject({
      state: 'failed',
      end: { what: expect.stringContaining('no disk either') },
    })
  })

  test('gets NOT_FOUND for attempts whose lease has ended, and INVALID_ARGUMENT for malformed ids', async () => {
    const { client, submit, end } = await grid()
    await register(client, 'w1')
    const { operation } = await submit(request)
    const [task] = await lease(client, 'w1')
    const taskId = task?.taskId ?? ''
    await expect(update(client, 'w2', { taskId, status: 'EXECUTING' })).rejects.toMatchObject({
      code: status.NOT_FOUND,
    })
    await update(client, 'w1', { taskId, status: 'COMPLETED', result: {} })
    await end(operation)
    for (const rest of [{ status: 'COMPLETED', result: {} }, { status: 'EXECUTING' }, { status: 'FAILED' }])
      await expect(update(client, 'w1', { taskId, ...rest })).rejects.toMatchObject({
        code: status.NOT_FOUND,
        details: expect.stringContaining('drop it'),
      })
    await expect(update(client, 'w1', { taskId: '../../x', status: 'EXECUTING' })).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    })
  })

  test('that reports COMPLETED without a result gets INVALID_ARGUMENT, and the task is retried', async () => {
    const { client, submit, engine } = await grid()
    await register(client, 'w1')
    const { operation } = await submit(request)
    const [task] = await lease(client, 'w1')
    await expect(update(client, 'w1', { taskId: task?.taskId ?? '', status: 'COMPLETED' })).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    })
    expect(await engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'retrying' })
  })

  test('gets NOT_FOUND before it has registered', async () => {
    const { client } = await grid()
    for (const [method, rest] of [
      ['LeaseTask', { maxTasks: 1 }],
      ['ReportHeartbeat', {}],
      ['UnregisterWorker', {}],
    ] as const)
      await expect(client.call(method, { workerId: 'nobody', ...rest })).rejects.toMatchObject({
        code: status.NOT_FOUND,
      })
    await expect(client.call('RegisterWorker', {})).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
    await expect(register(client, 'w1', 1_000_000)).rejects.toMatchObject({ code: status.OUT_OF_RANGE })
  })

  test('is ordered to shut down when it is drained', async () => {
    const { client, engine } = await grid()
    await register(client, 'w1')
    engine.drainWorker(LOCAL_CALLER, 'w1', { shutdown: true })
    expect(await client.call('ReportHeartbeat', { workerId: 'w1' })).toEqual({ shouldShutdown: true })
  })

  test('keeps a running task by its heartbeats, and loses a lease that it never started', async () => {
    const clock = manualClock()
    const { client, submit, engine } = await grid({ clock })
    await register(client, 'w1', 2)
    const running = await submit({ script: 'running' })
    const lost = await submit({ script: 'lost' })
    const first = await client.call('LeaseTask', { workerId: 'w1', maxTasks: 2, timeoutSeconds: '0' })
    expect(first.tasks).toHaveLength(2)
    const { taskId } = (first.tasks as unknown as Leased[]).find((one) => one.operationName === running.operation) ?? {}
    await update(client, 'w1', { taskId: taskId ?? '', status: 'EXECUTING' })
    for (let seconds = 0; seconds < 600; seconds += 30) {
      clock.advance(30_000)
      await client.call('ReportHeartbeat', { workerId: 'w1', state: 'BUSY' })
    }
    expect(await engine.find(LOCAL_CALLER, running.operation)).toMatchObject({ state: 'running', attempt: 1 })
    expect(await engine.find(LOCAL_CALLER, lost.operation)).not.toMatchObject({ state: 'assigned', attempt: 1 })
  })
})
