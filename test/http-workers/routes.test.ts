import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { CommandTaskSpec } from '../../src/model/command-task.ts'
import { hasSucceeded } from '../../src/model/command-task.ts'
import { keptOutputsOf } from '../../src/wire/workers/json/kept-outputs.ts'
import { ended, fileOf, sh, stageOf, submitCommand, textOf } from '../commands/commands.ts'
import { until } from '../workers/grid.ts'
import { contentOf } from '../workers/told-results.ts'
import { type HttpGrid, type Json, startHttpGrid } from './http-grid.ts'

const HELLO: CommandTaskSpec = { stages: [sh('echo hello')] }
const WORKERS = '/api/v1/workers'

async function register(grid: HttpGrid, more: object = {}): Promise<string> {
  const { status, json } = await grid.call('POST', WORKERS, { name: 'w', hostname: 'h', runtime: 'none', ...more })
  expect(status).toBe(201)
  return String(json.id)
}

async function take(grid: HttpGrid, worker: string): Promise<Json> {
  const { status, json } = await grid.call('GET', `${WORKERS}/${worker}/work?wait=10s`)
  expect(status).toBe(200)
  return json
}

/** A grid with one worker that holds one task. */
async function withTask(options: CommandTaskSpec = HELLO, more: object = {}) {
  const grid = await startHttpGrid()
  const worker = await register(grid, more)
  const { operation } = await submitCommand(grid, options)
  const task = await take(grid, worker)
  const path = `${WORKERS}/${worker}/tasks/${task.id}`
  return { grid, worker, operation, task, path }
}

describe('a worker over HTTP', () => {
  test('registers, and its record is in the envelope and beside it', async () => {
    const grid = await startHttpGrid()
    const labels = { rack: 'b' }
    const { status, json } = await grid.call('POST', WORKERS, { name: 'w1', hostname: 'h1', runtime: 'docker', labels })
    expect(status).toBe(201)
    expect(json).toMatchObject({ status: 'ok', request_id: expect.stringMatching(/^req_/), id: json.data?.id })
    expect(json.data).toMatchObject({
      id: expect.stringMatching(/^wrk_[0-9a-f-]{36}$/),
      name: 'w1',
      hostname: 'h1',
      state: 'online',
      runtime: 'docker',
      labels,
      current_task: '',
    })
    expect(Date.parse(String(json.data?.registered_at))).toBeGreaterThan(0)
    expect((await grid.call('GET', WORKERS)).json.data).toMatchObject([{ name: 'w1' }])
    expect((await grid.call('GET', `${WORKERS}/${json.id}`)).json.data).toMatchObject({ name: 'w1', protocol: 'http' })
    expect(grid.engine.workers.list()[0]?.properties).toEqual(
      expect.arrayContaining([
        { name: 'runs', value: 'plain' },
        { name: 'label:rack', value: 'b' },
        { name: 'container-image', value: '*' },
      ]),
    )
    expect((await grid.call('DELETE', `${WORKERS}/${json.id}`)).json.data).toEqual({ id: json.id, state: 'offline' })
    expect(grid.engine.workers.list()).toEqual([])
  })

  test('with only a name, or null for unknown fields, is accepted', async () => {
    const grid = await startHttpGrid()
    await register(grid, { id: '', hostname: null, labels: null, runtime: '', last_seen: '0001-01-01T00:00:00Z' })
  })

  test('gets 204 when there is no task', async () => {
    const grid = await startHttpGrid()
    const worker = await register(grid)
    expect((await grid.call('GET', `${WORKERS}/${worker}/work`)).status).toBe(204)
    expect((await grid.call('GET', `${WORKERS}/${worker}/work?wait=20ms`)).status).toBe(204)
  })

  test('gets a task with its command, files, output globs and image', async () => {
    const { task, worker } = await withTask(
      {
        stages: [{ ...sh('cat d/a.txt'), limits: { wallMs: 5000, memoryBytes: 1e6 } }],
        inputs: { files: [fileOf('d/a.txt', 'äh'), { ...fileOf('b', ''), contents: Uint8Array.of(255, 254) }] },
        outputs: { paths: ['o[1].txt'], globs: ['*.log'] },
        image: 'debian:12',
      },
      { runtime: 'docker' },
    )
    expect(task.data).toMatchObject({ id: task.id })
    expect(task).toMatchObject({
      state: 'RUNNING',
      external_id: worker,
      inputs: {
        file_1: { class: 'File', basename: 'a.txt', path: 'd/a.txt', contents: 'äh' },
        file_2: { class: 'File', basename: 'b', contents: '//4=', encoding: 'base64' },
        _base_command: ['/bin/sh', '-c', 'cat d/a.txt'],
        _output_globs: ['o[[]1].txt', '*.log'],
        _docker_image: 'debian:12',
        _env: { PATH: '/usr/bin:/bin' },
        _limits: { wall_ms: 5000, memory_bytes: 1e6 },
        _timeout_seconds: 6,
        _network: false,
      },
    })
  })

  test('reports a result with stdout, stderr and files, which become blobs', async () => {
    const { grid, operation, path, worker } = await withTask({ ...HELLO, outputs: { globs: ['**'] } })
    expect((await grid.call('PUT', `${path}/status`, { state: 'RUNNING' })).status).toBe(200)
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'running', worker })
    const done = await grid.call('PUT', `${path}/complete`, {
      state: 'success',
      exit_code: 0,
      stdout: 'hello\n',
      stderr: 'x'.repeat(20_000),
      outputs: {
        one: { class: 'File', basename: 'one.txt', contents: 'first' },
        many: [{ class: 'File', path: 'd/two.bin', contents: '/w==', encoding: 'base64', executable: true }],
        tree: { class: 'Directory', basename: 'd', listing: [{ class: 'File', basename: 'three', contents: '3' }] },
      },
    })
    expect(done).toMatchObject({ status: 200, json: { status: 'ok' } })
    const { status, result } = ended(await grid.end(operation))
    expect(status).toMatchObject({ state: 'completed', attempt: 1 })
    const run = stageOf(result)
    expect([run.cause, run.exitCode, textOf(run.stdout)]).toEqual(['ok', 0, 'hello\n'])
    expect(await contentOf(grid.blobs, run.stderr.digest)).toBe('x'.repeat(20_000))
    expect(result.outputs.files.map(({ path: at, executable }) => [at, executable])).toEqual([
      ['one.txt', false],
      ['d/two.bin', true],
      ['d/three', false],
    ])
    expect(await contentOf(grid.blobs, result.outputs.files[0]?.digest)).toBe('first')
    expect(await contentOf(grid.blobs, result.outputs.root)).toContain('one.txt')
    expect(result.metadata).toMatchObject({ worker })
    expect(hasSucceeded(result)).toBe(true)
    expect((await grid.call('GET', `${WORKERS}/${worker}`)).json.data).toMatchObject({ current_task: '', tasks: 0 })
  })

  test('may report outputs by location, which are kept as reported', async () => {
    const { grid, operation, path } = await withTask()
    const outputs = { contigs: { class: 'File', location: 'file:///shared/results/contigs.fa' }, n: 3 }
    await grid.call('PUT', `${path}/complete`, { state: 'SUCCESS', exit_code: 0, stdout: '', stderr: '', outputs })
    const { result } = ended(await grid.end(operation))
    expect(result.outputs.files).toEqual([])
    expect(result.metadata && keptOutputsOf(result.metadata)).toEqual(outputs)
  })

  test.each([
    [{ state: 'failed', exit_code: 3 }, { cause: 'exit', exitCode: 3 }, 'completed'],
    [{ exit_code: 4 }, { cause: 'exit', exitCode: 4 }, 'completed'],
    [{ state: 'TIMEOUT' }, { cause: 'timeout', exitCode: 137 }, 'timeout'],
    [{ state: 'success' }, { cause: 'ok', exitCode: 0 }, 'completed'],
  ])('that reports %j ends the stage as %j', async (word, stage, state) => {
    const { grid, operation, path } = await withTask()
    expect((await grid.call('PUT', `${path}/complete`, word)).status).toBe(200)
    const { status, result } = ended(await grid.end(operation))
    expect(status.state).toBe(state)
    expect(stageOf(result)).toMatchObject(stage)
  })

  test('that reports a failure of its own lets the task be retried on another worker', async () => {
    const { grid, operation, path, worker } = await withTask()
    await grid.call('PUT', `${path}/complete`, { state: 'FAILED', stderr: 'no such image' })
    const again = await take(grid, await register(grid))
    expect(again.id).not.toBe(path.split('/').at(-1))
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ attempt: 2 })
    expect(grid.engine.workers.list().map((one) => one.worker)).toContain(worker)
  })

  test('may report a problem with the outputs although the command exited with 0', async () => {
    const { grid, operation, path } = await withTask()
    await grid.call('PUT', `${path}/complete`, { state: 'failed', exit_code: 0, error: 'no output' })
    expect(ended(await grid.end(operation)).result.outputs.problem).toBe('no output')
  })

  test('without a container runtime gets no task with an image', async () => {
    const grid = await startHttpGrid()
    const [worker, other] = [await register(grid), await register(grid, { runtime: 'docker' })]
    await submitCommand(grid, { ...HELLO, image: 'debian:12' }, { maxRetries: 0 })
    expect((await grid.call('GET', `${WORKERS}/${worker}/work`)).status).toBe(204)
    expect((await take(grid, other)).inputs).toMatchObject({ _docker_image: 'debian:12' })
  })

  test('may return a task to the queue', async () => {
    const { grid, worker, path, task } = await withTask()
    expect((await grid.call('PUT', `${path}/status`, { state: 'QUEUED' })).status).toBe(200)
    expect((await take(grid, worker)).id).not.toBe(task.id)
  })

  test('streams the output of its task', async () => {
    const { grid, operation, path } = await withTask()
    await grid.call('PUT', `${path}/status`, { state: 'running', stdout: 'early\n' })
    const listener = grid.engine.listenOutput(LOCAL_CALLER, operation, () => {})
    expect(Buffer.from(listener?.next()?.bytes ?? []).toString()).toBe('early\n')
    listener?.close()
  })

  test('receives cancellations and a drain with its heartbeat', async () => {
    const { grid, operation, path, worker, task } = await withTask()
    await grid.call('PUT', `${path}/status`, { state: 'RUNNING' })
    const calm = await grid.call('PUT', `${WORKERS}/${worker}/heartbeat`)
    expect(calm.json.data).toEqual({
      worker_id: worker,
      state: 'online',
      cancel_tasks: [],
      drain: false,
      shutdown: false,
    })
    void grid.engine.cancel(LOCAL_CALLER, operation)
    const reported = await grid.call('PUT', `${WORKERS}/${worker}/heartbeat`, { state: 'busy' })
    expect(reported.json.data).toMatchObject({ cancel_tasks: [task.id] })
    expect((await grid.call('PUT', `${path}/complete`, { state: 'CANCELLED' })).status).toBe(200)
    expect(await grid.end(operation)).toMatchObject({ state: 'cancelled' })
    grid.engine.drainWorker(LOCAL_CALLER, worker)
    expect((await grid.call('PUT', `${WORKERS}/${worker}/heartbeat`)).json.data).toMatchObject({
      state: 'draining',
      drain: true,
    })
  })

  test('receives orders at once by long poll', async () => {
    const { grid, operation, path, worker, task } = await withTask()
    await grid.call('PUT', `${path}/status`, { state: 'RUNNING' })
    const orders = `${WORKERS}/${worker}/orders`
    expect((await grid.call('GET', `${orders}?wait=10ms&seen=0`)).status).toBe(204)
    const parked = grid.call('GET', `${orders}?wait=30s&seen=0`)
    void grid.engine.cancel(LOCAL_CALLER, operation)
    const { json } = await parked
    expect(json.data).toMatchObject({ cancel_tasks: [task.id], seen: 1 })
    expect((await grid.call('GET', `${orders}?wait=10ms&seen=1`)).status).toBe(204) // an order is sent only once
  })
})

describe('a long poll for work', () => {
  test('is answered when a task is queued', async () => {
    const grid = await startHttpGrid()
    const worker = await register(grid)
    const parked = take(grid, worker)
    await until(() => grid.parked() === 1)
    await submitCommand(grid, HELLO)
    expect((await parked).inputs).toMatchObject({ _base_command: ['/bin/sh', '-c', 'echo hello'] })
  })

  test('that the worker closes takes no task', async () => {
    const grid = await startHttpGrid()
    const worker = await register(grid)
    const hangUp = new AbortController()
    const parked = fetch(`${grid.url}${WORKERS}/${worker}/work?wait=30s`, { signal: hangUp.signal })
    await until(() => grid.parked() === 1)
    hangUp.abort()
    await expect(parked).rejects.toThrow()
    await until(() => grid.parked() === 0)
    const { operation } = await submitCommand(grid, HELLO)
    const task = await take(grid, worker)
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ worker })
    expect(task.inputs).toBeDefined()
  })

  test('ends when the server stops, and further ones are refused with 503', async () => {
    const grid = await startHttpGrid()
    const worker = await register(grid)
    const parked = grid.call('GET', `${WORKERS}/${worker}/work?wait=30s`)
    const orders = grid.call('GET', `${WORKERS}/${worker}/orders?wait=30s`)
    await until(() => grid.parked() === 1)
    grid.leave()
    expect((await parked).status).toBe(204)
    expect([204, 503]).toContain((await orders).status) // it may have arrived too late to wait
    expect((await grid.call('GET', `${WORKERS}/${worker}/work?wait=30s`)).status).toBe(503)
  })

  test('ends when the worker unregisters', async () => {
    const grid = await startHttpGrid()
    const worker = await register(grid)
    const parked = grid.call('GET', `${WORKERS}/${worker}/work?wait=30s`)
    const orders = grid.call('GET', `${WORKERS}/${worker}/orders?wait=30s`)
    await until(() => grid.parked() === 1)
    await grid.call('DELETE', `${WORKERS}/${worker}`)
    expect((await parked).status).toBe(204)
    expect((await orders).status).toBe(404) // whether it waited or not
  })
})

describe('fencing of attempts', () => {
  test('a report on a task that has been leased to another worker is refused with 409', async () => {
    const { grid, operation, path, worker } = await withTask()
    await grid.call('DELETE', `${WORKERS}/${worker}`)
    const other = await register(grid)
    const task = await take(grid, other)
    const late = await grid.call('PUT', `${path}/complete`, { state: 'success', exit_code: 0, stdout: 'late' })
    expect(late).toMatchObject({ status: 404, json: { error: { code: 'NOT_FOUND' } } }) // it must register first
    const wrong = `${WORKERS}/${other}/tasks/${path.split('/').at(-1)}`
    for (const call of ['status', 'complete'])
      expect(await grid.call('PUT', `${wrong}/${call}`, { state: 'success', exit_code: 0 })).toMatchObject({
        status: 409,
        json: { status: 'error', data: null, error: { code: 'CONFLICT' } },
      })
    expect((await grid.call('PUT', `${wrong}/status`, { state: 'RUNNING' })).status).toBe(409)
    const right = `${WORKERS}/${other}/tasks/${task.id}`
    await grid.call('PUT', `${right}/complete`, { state: 'success', exit_code: 0, stdout: 'in time' })
    const { status, result } = ended(await grid.end(operation))
    expect([status.worker, textOf(stageOf(result).stdout)]).toEqual([other, 'in time'])
    expect((await grid.call('PUT', `${right}/complete`, { state: 'success', exit_code: 0 })).status).toBe(409)
  })

  test('a heartbeat that was sent before the lease arrived does not revoke it', async () => {
    const { grid, operation, path, worker } = await withTask()
    await grid.call('PUT', `${WORKERS}/${worker}/heartbeat`, { running_tasks: [] })
    expect((await grid.call('PUT', `${path}/complete`, { state: 'success', exit_code: 0 })).status).toBe(200)
    expect(await grid.end(operation)).toMatchObject({ state: 'completed', attempt: 1 })
  })

  test('a worker that registers again under its id keeps the tasks that it lists', async () => {
    const { grid, operation, path, worker, task } = await withTask()
    expect(await register(grid, { id: worker, running_tasks: [task.id] })).toBe(worker)
    expect((await grid.call('PUT', `${path}/complete`, { state: 'success', exit_code: 0 })).status).toBe(200)
    expect(await grid.end(operation)).toMatchObject({ state: 'completed', attempt: 1 })
  })
})
