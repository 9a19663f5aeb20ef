import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { roundTrip, type Said, type ScriptedWorker, scriptedWorker, startSocketGrid } from './socket-grid.ts'

const text = (stream: { readonly inline: Uint8Array | undefined } | undefined): string =>
  Buffer.from(stream?.inline ?? []).toString()

describe('a WebSocket worker without extensions', () => {
  test("receives code, and its result becomes the task's result", async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('client_abc123')
    const limits = { wallMs: 30_000, memoryBytes: 256_000_000 }
    const { operation } = await grid.submit({ code: "print('Hello, World!')", limits })
    const task = await worker.hears()
    expect(task).toMatchObject({
      type: 'execute',
      taskId: operation,
      language: 'python',
      code: "print('Hello, World!')",
      resourceLimit: { timeout: '30s', memory: '256MB' },
      attempt: 1,
      fencing: expect.stringMatching(/^\d+-\d+$/),
    })
    await eventually(async () => expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('running'))
    worker.finish(task)
    const { status, result } = await grid.end(operation)
    expect(status).toMatchObject({ state: 'completed' })
    expect(result?.stages).toMatchObject([{ name: 'run', cause: 'ok', exitCode: 0, usage: { wallMs: 1200 } }])
    expect(text(result?.stages[0]?.stdout)).toBe('Hello, World!\n')
    expect(worker.unheard).toEqual([])
  })

  test('may report a non-zero exit code, which is a result and is not retried', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    const { operation } = await grid.submit()
    worker.finish(await worker.hears(), { success: false, exitCode: 3, output: '', error: 'boom' })
    const { status, result } = await grid.end(operation)
    expect(status.state).toBe('completed')
    expect(result?.stages[0]).toMatchObject({ cause: 'exit', exitCode: 3 })
    expect(text(result?.stages[0]?.stderr)).toBe('boom')
  })

  test('that could not run a task causes a retry on another worker', async () => {
    const grid = await startSocketGrid()
    const broken = await grid.worker('broken')
    const { operation } = await grid.submit()
    broken.finish(await broken.hears(), { success: false, exitCode: 0, error: 'no python here' })
    await eventually(async () => expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('retrying'))
    broken.socket.close(1000)
    await broken.closed
    const sound = await grid.worker('sound')
    await eventually(() => expect(grid.stateOf('sound')).toBe('ONLINE'))
    grid.clock.advance(2_000)
    const again = await sound.hears()
    expect(again).toMatchObject({ attempt: 2 })
    sound.finish(again)
    expect((await grid.end(operation)).status.state).toBe('completed')
  })

  test('gets as many tasks as it has slots, and the next when a slot becomes free', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    for (let i = 0; i < 3; i++) await grid.submit({ code: `${i}` })
    const [first, second] = [await worker.hears(), await worker.hears()]
    expect([first.code, second.code]).toEqual(['0', '1'])
    await eventually(() => expect(grid.stateOf('w')).toBe('BUSY'))
    worker.heartbeat({ load: { currentTasks: 2, maxConcurrent: 2, cpuUsage: 0.9, memoryUsage: 0.3 } })
    expect(worker.unheard).toEqual([])
    worker.finish(first)
    expect(await worker.hears()).toMatchObject({ code: '2' })
  })

  test('gets only tasks in its languages, under its own names for them', async () => {
    const grid = await startSocketGrid({ canonical: (name) => (name === 'js' ? 'javascript' : name) })
    const worker = await grid.worker('w', { capabilities: ['JS'] })
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    await grid.submit({ language: 'python' })
    await grid.submit({ language: 'javascript', code: 'console.log(1)' })
    expect(await worker.hears()).toMatchObject({ language: 'JS', code: 'console.log(1)' })
    expect(worker.unheard).toEqual([])
  })

  test('gets tasks in a language that it adds later, and keeps its running ones', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', { capabilities: ['python'] })
    const { operation } = await grid.submit()
    const task = await worker.hears()
    const { operation: other } = await grid.submit({ language: 'go', code: 'package main' })
    grid.clock.advance(10_000)
    worker.heartbeat({ capabilities: ['python', 'go'] })
    const second = await worker.hears()
    expect(second).toMatchObject({ language: 'go', attempt: 1 })
    worker.finish(task)
    worker.finish(second)
    const ends = await Promise.all([grid.end(operation), grid.end(other)])
    expect(ends.map(({ status }) => [status.state, status.attempt])).toEqual([
      ['completed', 1],
      ['completed', 1],
    ])
  })
})

describe('the state of a WebSocket worker', () => {
  const load = (cpuUsage: number, more = {}) => ({
    load: { currentTasks: 0, maxConcurrent: 4, cpuUsage, memoryUsage: 0.3, ...more },
  })

  test('is DEGRADED while its processor is full: it gets half of its slots, and recovers', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', load(0.5))
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    worker.heartbeat(load(0.99))
    await eventually(() => expect(grid.stateOf('w')).toBe('DEGRADED'))
    for (let i = 0; i < 4; i++) await grid.submit({ code: `${i}` })
    await worker.hears()
    await worker.hears()
    worker.heartbeat(load(0.95)) // better, but not good yet
    await roundTrip(worker)
    expect([grid.stateOf('w'), worker.unheard]).toEqual(['DEGRADED', []])
    worker.heartbeat(load(0.6))
    expect(await worker.hears()).toMatchObject({ code: '2' })
    expect(await worker.hears()).toMatchObject({ code: '3' })
    expect(grid.stateOf('w')).toBe('BUSY')
  })

  test('is DEGRADED with full memory, with slots taken by other programs, or when it reports DEGRADED', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', load(0.5))
    const sick = [load(0.1, { memoryUsage: 1 }), load(0.1, { currentTasks: 4 }), { ...load(0.1), status: 'DEGRADED' }]
    for (const each of sick) {
      worker.heartbeat(each)
      await eventually(() => expect(grid.stateOf('w')).toBe('DEGRADED'))
      worker.heartbeat(load(0.5))
      await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    }
  })

  test('is OFFLINE after 30 s of silence, and ONLINE again after a heartbeat', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    grid.clock.advance(29_999)
    expect(grid.stateOf('w')).toBe('ONLINE')
    grid.clock.advance(1)
    expect(grid.stateOf('w')).toBe('OFFLINE')
    const { operation } = await grid.submit()
    await roundTrip(worker)
    expect(worker.unheard).toEqual([])
    grid.clock.advance(10_000)
    await eventually(() => expect(grid.engine.workers.list()).toEqual([]))
    expect(grid.stateOf('w')).toBe('OFFLINE')
    worker.heartbeat()
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    worker.finish(await worker.hears())
    expect((await grid.end(operation)).status.state).toBe('completed')
  })

  test('is removed when it closes with 1001, and its tasks are retried at once', async () => {
    const grid = await startSocketGrid()
    const leaving = await grid.worker('leaving')
    const { operation } = await grid.submit()
    await leaving.hears()
    const other = await grid.worker('other')
    leaving.socket.close(1001)
    other.finish(await other.hears())
    expect((await grid.end(operation)).status).toMatchObject({ state: 'completed', worker: 'other' })
    expect(grid.stateOf('leaving')).toBeUndefined()
  })

  test('is kept for a grace time after a lost connection, in which it can reconnect with its tasks', async () => {
    const grid = await startSocketGrid()
    const before = await grid.worker('w')
    const { operation } = await grid.submit()
    const task = await before.hears()
    before.socket.terminate()
    await before.closed
    const after = await grid.worker('w', { running: [task.taskId], extensions: ['cancel', 'ack'] })
    expect(await after.hears()).toMatchObject({ type: 'heartbeat_ack' })
    after.finish(task)
    expect(await after.hears()).toMatchObject({ type: 'result_ack', taken: 'applied' })
    expect((await grid.end(operation)).status).toMatchObject({ state: 'completed', attempt: 1 })
  })

  test('is lost after the grace time, and its tasks are retried elsewhere', async () => {
    const grid = await startSocketGrid()
    const lost = await grid.worker('lost')
    const { operation } = await grid.submit()
    await lost.hears()
    lost.socket.terminate()
    await lost.closed
    const other = await grid.worker('other')
    await eventually(() => {
      grid.clock.advance(1_000)
      other.heartbeat()
      expect(other.unheard).toHaveLength(1)
    })
    other.finish(await other.hears())
    expect((await grid.end(operation)).status).toMatchObject({ state: 'completed', worker: 'other', attempt: 2 })
  })

  test('is kept when the stopping server closes its socket with 1001', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    const { operation } = await grid.submit()
    await worker.hears()
    await eventually(async () => expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('running'))
    grid.ending.abort()
    expect((await worker.closed).code).toBe(1001)
    expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('running')
    const late = await grid.worker('late')
    expect((await late.closed).code).toBe(1001)
  })
})

describe('a WebSocket worker with extensions', () => {
  const knowing = { extensions: ['accepted', 'cancel', 'drain', 'ack'] }

  test('reports the start itself, and streams output', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', knowing)
    expect(await worker.hears()).toMatchObject({ type: 'heartbeat_ack', clientId: 'w' })
    const { operation } = await grid.submit()
    const task = await worker.hears()
    expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('assigned')
    worker.send({ type: 'accepted', taskId: task.taskId })
    worker.send({ type: 'output', taskId: task.taskId, stream: 'stdout', data: 'so far ', offset: 0 })
    worker.send({ type: 'output', taskId: task.taskId, stream: 'stdout', data: 'so good', offset: 7 })
    worker.heartbeat({ running: [task.taskId] })
    await worker.hears()
    expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('running')
    const listener = grid.engine.listenOutput(LOCAL_CALLER, operation, () => {})
    expect([listener?.next(), listener?.next()].map((piece) => String(Buffer.from(piece?.bytes ?? [])))).toEqual([
      'so far ',
      'so good',
    ])
  })

  test('receives a cancel message for a cancelled task', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', knowing)
    await worker.hears()
    const { operation } = await grid.submit()
    const task = await worker.hears()
    worker.send({ type: 'accepted', taskId: task.taskId })
    await eventually(async () => expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('running'))
    void grid.engine.cancel(LOCAL_CALLER, operation)
    expect(await worker.hears()).toEqual({ type: 'cancel', taskId: task.taskId, attempt: 1, reason: 'cancelled' })
    worker.finish(task, { success: false, exitCode: 137 })
    expect((await grid.end(operation)).status.state).toBe('cancelled')
  })

  test('is DRAINING when it reports draining, also after a drain and a resume by the server', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', knowing)
    await worker.hears()
    grid.engine.drainWorker(LOCAL_CALLER, 'w')
    grid.engine.resumeWorker(LOCAL_CALLER, 'w')
    worker.heartbeat({ status: 'draining' })
    await eventually(() => expect(grid.stateOf('w')).toBe('DRAINING'))
  })

  test('receives a cancel message for a listed task that it does not hold', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', knowing)
    await worker.hears()
    worker.heartbeat({ running: ['made-up'] })
    expect(await worker.hears()).toEqual({ type: 'cancel', taskId: 'made-up', reason: 'superseded' })
  })

  test('may send the attempt number: a result of an older attempt is superseded', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', { ...knowing, load: { maxConcurrent: 2 } })
    await worker.hears()
    const { operation } = await grid.submit()
    const first = await worker.hears()
    // The worker lists no task, so the lease ends, and the server leases the task to it again.
    while (!worker.unheard.some(isExecute)) {
      worker.heartbeat({ running: [] })
      await roundTrip(worker)
      grid.clock.advance(1000)
    }
    const second = (await hearsUntil(worker, isExecute)).at(-1) as Said
    expect(second).toMatchObject({ taskId: operation, attempt: 2 })
    for (const label of [{ attempt: 1 }, { fencing: first.fencing }]) {
      worker.finish(first, { output: 'from the first attempt', ...label })
      expect((await hearsUntil(worker, isAck)).at(-1)).toMatchObject({ taskId: operation, taken: 'superseded' })
    }
    worker.finish(second, { output: 'from the second', attempt: 2, fencing: second.fencing })
    expect((await hearsUntil(worker, isAck)).at(-1)).toMatchObject({ taken: 'applied' })
    expect(text((await grid.end(operation)).result?.stages[0]?.stdout)).toBe('from the second')
  })
})

const isExecute = ({ type }: Said): boolean => type === 'execute'
const isAck = ({ type }: Said): boolean => type === 'result_ack'

async function hearsUntil(worker: ScriptedWorker, isLast: (printed: Said) => boolean): Promise<Said[]> {
  const received: Said[] = []
  do received.push(await worker.hears())
  while (!isLast(received.at(-1) as Said))
  return received
}

describe('a hostile WebSocket worker', () => {
  test.each([
    ['what is not JSON', '{', 'not JSON'],
    ['what is no object', '[]', 'object with a type'],
    ['another name', { type: 'heartbeat', clientId: 'somebody-else' }, 'another name'],
  ])('that sends %s is disconnected with 1008 and the reason', async (_, message, reason) => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    worker.send(message)
    expect(await worker.closed).toMatchObject({ code: 1008, reason: expect.stringContaining(reason) })
  })

  test('may send messages of an unknown type, which are ignored', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    worker.send({ type: 'telemetry', anything: true })
    worker.send({ type: '__proto__' })
    await grid.submit()
    expect(await worker.hears()).toMatchObject({ type: 'execute' })
  })

  test('cannot end the task of another worker', async () => {
    const grid = await startSocketGrid()
    const honest = await grid.worker('honest')
    const { operation } = await grid.submit()
    const task = await honest.hears()
    const thief = await grid.worker('thief', { extensions: ['ack'] })
    await thief.hears()
    thief.finish(task, { output: 'stolen' })
    expect(await thief.hears()).toMatchObject({ type: 'result_ack', taken: 'superseded' })
    thief.send({ type: 'output', taskId: task.taskId, stream: 'stdout', data: 'stolen' })
    thief.heartbeat({ running: [task.taskId] }) // listing it as running does not help either
    await thief.hears()
    thief.finish(task, { output: 'stolen' })
    expect(await thief.hears()).toMatchObject({ type: 'result_ack', taken: 'superseded' })
    honest.finish(task)
    const { status, result } = await grid.end(operation)
    expect(status).toMatchObject({ worker: 'honest', attempt: 1 })
    expect(text(result?.stages[0]?.stdout)).toBe('Hello, World!\n')
  })

  test('has a repeated result applied once, and one with a wrong fencing number never', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', { extensions: ['ack'] })
    await worker.hears()
    const { operation } = await grid.submit()
    const task = await worker.hears()
    worker.finish(task, { output: 'from another attempt', fencing: '1-999999' })
    expect(await worker.hears()).toMatchObject({ taken: 'superseded' })
    worker.finish(task)
    worker.finish(task, { output: 'again' })
    const acks = [await worker.hears(), await worker.hears()].map(({ taken }) => taken)
    expect(acks.sort()).toEqual(['applied', 'superseded'])
    expect(text((await grid.end(operation)).result?.stages[0]?.stdout)).toBe('Hello, World!\n')
  })

  test('that sends a result before a heartbeat is disconnected with 1008', async () => {
    const grid = await startSocketGrid()
    const mute = await scriptedWorker(grid.url, 'w', { type: 'result', taskId: 'a.1-1' })
    expect(await mute.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('first message') })
  })

  test('that sends no heartbeat for 10 s is disconnected with 1008', async () => {
    const grid = await startSocketGrid()
    const mute = await scriptedWorker(grid.url, 'w', { type: 'nothing' })
    await roundTrip(mute)
    grid.clock.advance(10_000)
    expect(await mute.closed).toMatchObject({ code: 1008, reason: 'no heartbeat came' })
  })

  test('that offers 10^12 slots gets 1,024', async () => {
    const grid = await startSocketGrid()
    await grid.worker('w', { load: { maxConcurrent: 1e12 } })
    await eventually(() => expect(grid.engine.workers.list()[0]?.slots).toBe(1024))
  })

  test('that takes the name of another worker replaces it, and the first is disconnected with 1008', async () => {
    const grid = await startSocketGrid()
    const first = await grid.worker('w')
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    const second = await grid.worker('w')
    expect(await first.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('another worker') })
    await grid.submit()
    expect(await second.hears()).toMatchObject({ type: 'execute' })
  })
})
