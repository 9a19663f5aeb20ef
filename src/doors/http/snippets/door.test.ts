import { describe, expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { commandTaskFromProto } from '../../../wire/tasks/command-task.ts'
import { batchAnswer, languagesAnswer, submittedAnswer, taskAnswerForm, whyAnswer } from './answers.ts'
import { snippetsDoor } from './door.ts'
import {
  dataOf,
  echoing,
  ended,
  HELLO,
  LOCAL_SCOPE,
  ran,
  shown,
  snippetsGrid,
  stage,
  submitted,
  turns,
} from './snippets.fixture.ts'

const SEED_REQUEST = {
  language: 'python',
  code: "print('Hello, World!')",
  resourceLimit: { timeout: '30s', memory: '256MB', cpu: '1.0' },
  metadata: { userId: 'user_123', projectId: 'proj_456' },
}

describe('requests as in the first API version', () => {
  test('a submission is answered with an envelope', async () => {
    const grid = await snippetsGrid()
    grid.worker('w1')
    const answer = await grid.ask('/api/v1/tasks', { body: SEED_REQUEST, headers: { authorization: 'Bearer token' } })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      code: 0,
      message: 'success',
      data: { taskId: expect.stringMatching(/^task_[0-9a-z]+$/), status: 'submitted', estimatedTime: '1s' },
    })
  })

  test('a task can be queried until it is completed', async () => {
    const grid = await snippetsGrid()
    const worker = grid.worker('client_abc123')
    const id = await submitted(grid, SEED_REQUEST)
    expect((await shown(grid, id)).status).toBe('submitted')
    worker.start()
    expect((await shown(grid, id)).status).toBe('executing')
    await worker.finish(ran(stage('Hello, World!\n')))
    const { json } = await grid.ask(`/api/v1/tasks/${id}`)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(json).toMatchObject({
      code: 0,
      message: 'success',
      data: {
        taskId: id,
        status: 'completed',
        language: 'python',
        result: { output: 'Hello, World!\n', error: '', exitCode: 0, executionTime: '1.2s' },
        timestamps: { createdAt: time, submittedAt: time, startedAt: time, completedAt: time },
        assignedClient: 'client_abc123',
        metadata: SEED_REQUEST.metadata,
      },
    })
  })

  test('without a live worker for the language, 50301 is returned with a retry time', async () => {
    const grid = await snippetsGrid()
    grid.worker('w1', { languages: ['ruby'] })
    const answer = await grid.ask('/api/v1/tasks', { body: HELLO })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('30')
    expect(answer.json).toEqual({
      code: 50301,
      message: 'No available client nodes',
      detail: 'No live worker has python',
      retryAfter: 30,
    })
  })
})

test('with all workers busy the task is queued, and /why gives the reason', async () => {
  const grid = await snippetsGrid()
  grid.worker('w1', { slots: 1 })
  await submitted(grid)
  const id = await submitted(grid)
  expect((await shown(grid, id)).status).toBe('submitted')
  const { reasons } = dataOf(await grid.ask(`/api/v1/tasks/${id}/why`), whyAnswer)
  expect(reasons.join(' ')).toMatch(/busy|slot/)
})

test('/why of an ended task gives its outcome', async () => {
  const grid = await snippetsGrid()
  grid.worker('w1', { answer: () => ended('exit', 7) })
  const id = await submitted(grid)
  await turns()
  const { status, reasons } = dataOf(await grid.ask(`/api/v1/tasks/${id}/why`), whyAnswer)
  expect([status, reasons]).toEqual(['failed', ['failed: run exited with 7']])
})

test('a stopping server answers 50302 with a retry time', async () => {
  const grid = await snippetsGrid()
  grid.worker('w1')
  grid.ending.abort()
  await grid.engine.close()
  const { status, json } = await grid.ask('/api/v1/tasks', { body: HELLO })
  expect(status).toBe(503)
  expect(json).toMatchObject({ code: 50302, retryAfter: 5 })
})

test('an internal error is 50001 without its message', async () => {
  const { service, instance } = await snippetsGrid()
  const find = async () => {
    throw new Error('secret path /etc/windlass')
  }
  const broken = { ...service, find }
  const { signal: ending } = new AbortController()
  const app = snippetsDoor({
    scopeOf: () => LOCAL_SCOPE,
    service: broken,
    instances: () => instance,
    clock: manualClock(),
    version: '1',
    ending,
  })
  const response = await app.request('/api/v1/tasks/task_1')
  expect(response.status).toBe(500)
  const text = await response.text()
  expect(JSON.parse(text)).toMatchObject({ code: 50001 })
  expect(text).not.toContain('secret')
})

test('a full queue answers 50301 with a retry time', async () => {
  const grid = await snippetsGrid({ scheduler: { maxQueued: 1 } })
  grid.worker('w1', { slots: 1 })
  await submitted(grid)
  await submitted(grid)
  const { status, json } = await grid.ask('/api/v1/tasks', { body: HELLO })
  expect(status).toBe(503)
  expect(json).toMatchObject({ code: 50301, detail: 'The queue is full', retryAfter: expect.any(Number) })
})

test('requested limits become the limits of each stage', async () => {
  const grid = await snippetsGrid()
  const worker = grid.worker('w1')
  await submitted(grid, {
    ...SEED_REQUEST,
    language: 'c',
    compileLimit: { timeout: '500ms', memory: '64MiB' },
  })
  const task = commandTaskFromProto(worker.leases[0]?.spec ?? new Uint8Array())
  expect(task.stages.map(({ name, limits }) => [name, limits])).toEqual([
    ['compile', { wallMs: 500, memoryBytes: 64 * 1024 ** 2 }],
    ['run', { wallMs: 30_000, memoryBytes: 256_000_000, cpus: 1 }],
  ])
})

describe('wait parameter', () => {
  test('wait=30s returns the completed task', async () => {
    const grid = await snippetsGrid()
    grid.worker('w1', { answer: echoing })
    const task = dataOf(await grid.ask('/api/v1/tasks?wait=30s', { body: HELLO }), taskAnswerForm)
    expect(task).toMatchObject({ status: 'completed', result: { output: 'Hello, World!\n' } })
  })

  test('after the wait time the current status is returned', async () => {
    const clock = manualClock()
    const grid = await snippetsGrid({ clock })
    grid.worker('w1')
    const answer = grid.ask('/api/v1/tasks?wait=2s', { body: HELLO })
    await turns()
    clock.advance(2000)
    expect(dataOf(await answer, taskAnswerForm).status).toBe('submitted')
  })

  test('a stopping server returns the current status to waiting clients', async () => {
    const grid = await snippetsGrid()
    grid.worker('w1')
    const answer = grid.ask('/api/v1/tasks?wait=30s', { body: HELLO })
    await turns()
    grid.ending.abort()
    expect(dataOf(await answer, taskAnswerForm).status).toBe('submitted')
  })

  test.each(['wait=30', 'wait=forever', 'wait='])('%s is refused with 40006', async (query) => {
    const grid = await snippetsGrid()
    grid.worker('w1')
    expect((await grid.ask(`/api/v1/tasks?${query}`, { body: HELLO })).json.code).toBe(40006)
  })
})

test('the estimated time is learned per code, and per language for new code', async () => {
  const grid = await snippetsGrid()
  grid.worker('w1', { answer: (task) => ran({ ...stage(''), usage: { ...stage('').usage, wallMs: slow(task) } }) })
  const slow = ({ inputs }: { inputs: { files: readonly { contents: Uint8Array }[] } }) =>
    Buffer.from(inputs.files[0]?.contents ?? []).includes('slow') ? 4000 : 2000
  await grid.ask('/api/v1/tasks?wait=1s', { body: { ...HELLO, code: 'slow' } })
  await grid.ask('/api/v1/tasks?wait=1s', { body: { ...HELLO, code: 'fast' } })
  await turns() // estimates are updated after the answer
  const estimate = async (code: string) =>
    dataOf(await grid.ask('/api/v1/tasks', { body: { ...HELLO, code } }), submittedAnswer).estimatedTime
  expect(await estimate('slow')).toBe('4s')
  expect(await estimate('other')).toBe('3.4s')
})

test('a batch answers each task with its own code, and 101 tasks are refused', async () => {
  const grid = await snippetsGrid()
  const worker = grid.worker('w1', { slots: 10 })
  const tasks = [HELLO, { ...HELLO, language: 'cobol' }, { ...HELLO, code: 'print(2)' }, 7]
  const answer = dataOf(await grid.ask('/api/v1/tasks/batch', { body: { tasks } }), batchAnswer)
  expect(answer.tasks.map(({ code }) => code)).toEqual([0, 40004, 0, 40002])
  expect(worker.leases).toHaveLength(2)
  const many = { tasks: Array.from({ length: 101 }, () => HELLO) }
  expect((await grid.ask('/api/v1/tasks/batch', { body: many })).json.code).toBe(40002)
})

test('DELETE or POST cancels a queued or running task, and changes nothing once it ended', async () => {
  const grid = await snippetsGrid()
  const worker = grid.worker('w1', { slots: 1 })
  const running = await submitted(grid)
  const queued = await submitted(grid)
  expect(dataOf(await grid.ask(`/api/v1/tasks/${queued}`, { method: 'DELETE' }), taskAnswerForm).status).toBe(
    'cancelled',
  )
  worker.start()
  dataOf(await grid.ask(`/api/v1/tasks/${running}/cancel`, { method: 'POST' }), taskAnswerForm)
  expect(worker.heard.join()).toContain('cancelled')
  await worker.finish(ran(stage('late')))
  await turns()
  const task = await shown(grid, running)
  expect(task).toMatchObject({ status: 'cancelled', failure: { message: expect.any(String) } })
  expect(dataOf(await grid.ask(`/api/v1/tasks/${running}`, { method: 'DELETE' }), taskAnswerForm)).toEqual(task)
})

test('rerun submits an equal task, with its metadata', async () => {
  const grid = await snippetsGrid()
  const worker = grid.worker('w1')
  const body = {
    language: 'py',
    files: [
      { name: 'a.py', content: 'x' },
      { name: 'lib/b.py', content: 'eA==', encoding: 'base64' },
    ],
    args: ['one', 'two words'],
    env: { LANG: 'C' },
    stdin: 'in',
    outputs: ['*.txt'],
    metadata: { k: 'v' },
    resourceLimit: { timeout: '3s' },
    idempotencyKey: 'k',
  }
  const id = await submitted(grid, body)
  const again = dataOf(await grid.ask(`/api/v1/tasks/${id}/rerun`, { method: 'POST' }), submittedAnswer).taskId
  expect(again).not.toBe(id)
  const [one, other] = worker.leases.map(({ spec }) => Buffer.from(spec).toString('base64'))
  expect(other).toBe(one)
  expect((await shown(grid, again)).metadata).toEqual({ k: 'v' })
})

test('languages lists the languages and versions of live workers', async () => {
  const grid = await snippetsGrid()
  grid.worker('w1')
  grid.worker('w2', { languages: ['python', 'python@3.9.1', 'python@3.10.0', 'unheard-of'] })
  const { languages } = dataOf(await grid.ask('/api/v1/languages'), languagesAnswer)
  expect(languages.map(({ name, versions }) => [name, versions])).toEqual([
    ['c', ['12.2.0']],
    ['python', ['3.11.2', '3.10.0', '3.9.1']],
  ])
})

test('a version is required of workers only when the caller requests one or the task is cached', async () => {
  const grid = await snippetsGrid()
  const worker = grid.worker('w1')
  const asked = async (rest: object) => {
    const id = await submitted(grid, { ...HELLO, ...rest })
    const lease = worker.leases.find(({ operation }) => operation === id)
    const task = commandTaskFromProto(lease?.spec ?? new Uint8Array())
    return [task.platform.find(({ name }) => name === 'language')?.value, (await shown(grid, id)).version]
  }
  expect(await asked({})).toEqual(['python', '3.11.2'])
  expect(await asked({ version: '3' })).toEqual(['python@3.11.2', '3.11.2'])
  expect(await asked({ cache: true })).toEqual(['python@3.11.2', '3.11.2'])
})
