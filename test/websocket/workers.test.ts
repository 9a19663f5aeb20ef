import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { roundTrip, type Said, type ScriptedWorker, scriptedWorker, startSocketGrid } from './socket-grid.ts'

const text = (stream: { readonly inline: Uint8Array | undefined } | undefined): string =>
  Buffer.from(stream?.inline ?? []).toString()

describe('a worker that was written from the protocol alone', () => {
  test('is given code, and its result is the result', async () => {
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

  test('may end with another code than 0: that is a result, and not tried again', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    const { operation } = await grid.submit()
    worker.finish(await worker.hears(), { success: false, exitCode: 3, output: '', error: 'boom' })
    const { status, result } = await grid.end(operation)
    expect(status.state).toBe('completed')
    expect(result?.stages[0]).toMatchObject({ cause: 'exit', exitCode: 3 })
    expect(text(result?.stages[0]?.stderr)).toBe('boom')
  })

  test('that could not run it has failed, and another is tried', async () => {
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

  test('gets as many at a time as it has room for, and the rest as room falls free', async () => {
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

  test('gets only languages that it has, under the names that it has for them', async () => {
    const grid = await startSocketGrid({ canonical: (name) => (name === 'js' ? 'javascript' : name) })
    const worker = await grid.worker('w', { capabilities: ['JS'] })
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    await grid.submit({ language: 'python' })
    await grid.submit({ language: 'javascript', code: 'console.log(1)' })
    expect(await worker.hears()).toMatchObject({ language: 'JS', code: 'console.log(1)' })
    expect(worker.unheard).toEqual([])
  })

  test('that learns a language gets tasks in it, and keeps those that it has', async () => {
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

describe('a worker is', () => {
  const load = (cpuUsage: number, more = {}) => ({
    load: { currentTasks: 0, maxConcurrent: 4, cpuUsage, memoryUsage: 0.3, ...more },
  })

  test('degraded while its machine is full, gets less work, and recovers', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', load(0.5))
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    worker.heartbeat(load(0.99))
    await eventually(() => expect(grid.stateOf('w')).toBe('DEGRADED'))
    for (let i = 0; i < 4; i++) await grid.submit({ code: `${i}` })
    await worker.hears()
    await worker.hears()
    worker.heartbeat(load(0.95)) // better, and not yet good
    await roundTrip(worker)
    expect([grid.stateOf('w'), worker.unheard]).toEqual(['DEGRADED', []])
    worker.heartbeat(load(0.6))
    expect(await worker.hears()).toMatchObject({ code: '2' })
    expect(await worker.hears()).toMatchObject({ code: '3' })
    expect(grid.stateOf('w')).toBe('BUSY')
  })

  test('degraded when its memory is full, or others have taken its slots, or it says so', async () => {
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

  test('offline after 30 s of silence, and its tasks go soon after; a heartbeat brings it back', async () => {
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

  test('closing with a goodbye leaves, and what it had goes on elsewhere at once', async () => {
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

  test('cut off has a grace to come back with what it runs', async () => {
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

  test('cut off and not back in time loses its tasks to others', async () => {
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

  test('sent away when the server stops, and keeps its tasks', async () => {
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

describe('a worker that knows more words', () => {
  const knowing = { extensions: ['accepted', 'cancel', 'drain', 'ack'] }

  test('says itself when it begins, and shows what is printed', async () => {
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

  test('is told to stop what was cancelled', async () => {
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

  test('is told to take no more, and may say so itself', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', knowing)
    await worker.hears()
    grid.engine.drainWorker(LOCAL_CALLER, 'w')
    grid.engine.resumeWorker(LOCAL_CALLER, 'w')
    worker.heartbeat({ status: 'draining' })
    await eventually(() => expect(grid.stateOf('w')).toBe('DRAINING'))
  })

  test('is told that its list has what is not its own', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', knowing)
    await worker.hears()
    worker.heartbeat({ running: ['made-up'] })
    expect(await worker.hears()).toEqual({ type: 'cancel', taskId: 'made-up', reason: 'superseded' })
  })

  test('may echo the number of the attempt: a result of an older attempt is not applied to a newer one', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', { ...knowing, load: { maxConcurrent: 2 } })
    await worker.hears()
    const { operation } = await grid.submit()
    const first = await worker.hears()
    // The worker lists nothing, so the lease ends, and the server leases the task to it again.
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

async function hearsUntil(worker: ScriptedWorker, isLast: (said: Said) => boolean): Promise<Said[]> {
  const heard: Said[] = []
  do heard.push(await worker.hears())
  while (!isLast(heard.at(-1) as Said))
  return heard
}

describe('of a hostile worker', () => {
  test.each([
    ['what is not JSON', '{', 'not JSON'],
    ['what is no object', '[]', 'object with a type'],
    ['another name', { type: 'heartbeat', clientId: 'somebody-else' }, 'another name'],
  ])('%s ends its socket, with the reason', async (_, message, reason) => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    worker.send(message)
    expect(await worker.closed).toMatchObject({ code: 1008, reason: expect.stringContaining(reason) })
  })

  test('words that nobody knows are passed over', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    worker.send({ type: 'telemetry', anything: true })
    worker.send({ type: '__proto__' })
    await grid.submit()
    expect(await worker.hears()).toMatchObject({ type: 'execute' })
  })

  test("a result for another's task changes nothing", async () => {
    const grid = await startSocketGrid()
    const honest = await grid.worker('honest')
    const { operation } = await grid.submit()
    const task = await honest.hears()
    const thief = await grid.worker('thief', { extensions: ['ack'] })
    await thief.hears()
    thief.finish(task, { output: 'stolen' })
    expect(await thief.hears()).toMatchObject({ type: 'result_ack', taken: 'superseded' })
    thief.send({ type: 'output', taskId: task.taskId, stream: 'stdout', data: 'stolen' })
    thief.heartbeat({ running: [task.taskId] }) // claiming it does not help either
    await thief.hears()
    thief.finish(task, { output: 'stolen' })
    expect(await thief.hears()).toMatchObject({ type: 'result_ack', taken: 'superseded' })
    honest.finish(task)
    const { status, result } = await grid.end(operation)
    expect(status).toMatchObject({ worker: 'honest', attempt: 1 })
    expect(text(result?.stages[0]?.stdout)).toBe('Hello, World!\n')
  })

  test('the same result twice counts once, and one under an old number never', async () => {
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

  test('a result before any heartbeat ends its socket', async () => {
    const grid = await startSocketGrid()
    const mute = await scriptedWorker(grid.url, 'w', { type: 'result', taskId: 'a.1-1' })
    expect(await mute.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('first message') })
  })

  test('silence from the start ends its socket', async () => {
    const grid = await startSocketGrid()
    const mute = await scriptedWorker(grid.url, 'w', { type: 'nothing' })
    await roundTrip(mute)
    grid.clock.advance(10_000)
    expect(await mute.closed).toMatchObject({ code: 1008, reason: 'no heartbeat came' })
  })

  test('slots beyond all measure are not believed', async () => {
    const grid = await startSocketGrid()
    await grid.worker('w', { load: { maxConcurrent: 1e12 } })
    await eventually(() => expect(grid.engine.workers.list()[0]?.slots).toBe(1024))
  })

  test('a name that is taken ends the socket of who had it', async () => {
    const grid = await startSocketGrid()
    const first = await grid.worker('w')
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    const second = await grid.worker('w')
    expect(await first.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('another worker') })
    await grid.submit()
    expect(await second.hears()).toMatchObject({ type: 'execute' })
  })
})
