import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import { memoryJournal, memoryRecords } from '../storage/journal/memory-journal.ts'
import { manualClock } from '../testing/manual-clock.ts'
import { openGrid, text, turns, watchOf } from './grid.fixture.ts'

describe('leases', () => {
  test('a lease is renewed by heartbeats, and goes to another worker after the heartbeat timeout', async () => {
    const grid = await openGrid(memoryJournal(), { scheduler: { leaseMs: 30_000, heartbeatTimeoutMs: 20_000 } })
    const w1 = grid.worker('w1')
    const { operation } = await grid.submit()
    const watcher = watchOf(grid.engine, operation)
    w1.start()
    for (let i = 0; i < 10; i++) {
      await grid.after(10_000)
      w1.heartbeat()
    }
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({
      state: 'running',
      worker: 'w1',
      attempt: 1,
    })
    const w2 = grid.worker('w2')
    await grid.after(15_000)
    w2.heartbeat()
    await grid.after(6000)
    expect(w1.calls).toEqual([expect.stringContaining('over: no message for')])
    expect(w2.leases).toMatchObject([{ attempt: 2 }])
    // The first worker reconnects: its late result is not applied.
    await expect(w1.finish()).resolves.toBe('superseded')
    await expect(w2.finish()).resolves.toBe('applied')
    await turns()
    expect(watcher.states.at(-1)).toBe('completed')
    expect(watcher.result).toContain('by w2')
  })

  test('a result that arrives after its lease expired is recorded as superseded', async () => {
    const journal = memoryJournal()
    const grid = await openGrid(journal, { scheduler: { heartbeatTimeoutMs: 20_000 } })
    const w1 = grid.worker('w1')
    const { operation } = await grid.submit()
    await grid.after(21_000)
    const w2 = grid.worker('w2')
    await w1.finish()
    await turns()
    expect(await journal.find(operation)).toMatchObject({ state: 'assigned', lease: { worker: 'w2' } })
    await w2.finish()
    expect((await journal.find(operation))?.superseded).toMatchObject([
      { state: 'completed', reason: 'from worker w1' },
    ])
  })

  test('a lease answers the oldest poll, and a withdrawn poll is not answered', async () => {
    const grid = await openGrid(memoryJournal())
    const w1 = grid.worker('w1', { pulls: true, slots: 4 })
    const got: string[] = []
    const first = grid.engine.workers.ask({ worker: 'w1' }, (leases) => void got.push(`first ${leases.length}`))
    grid.engine.workers.ask({ worker: 'w1', waitMs: 30_000 }, (leases) => void got.push(`second ${leases.length}`))
    grid.engine.workers.ask({ worker: 'w1', waitMs: 30_000 }, (leases) => void got.push(`third ${leases.length}`))
    first()
    await grid.submit()
    expect(got).toEqual(['second 1'])
    await grid.after(30_000)
    expect(got).toEqual(['second 1', 'third 0'])
    await grid.submit()
    expect(got).toHaveLength(2)
    w1.ask()
    expect(w1.leases).toHaveLength(1)
    expect(() => grid.engine.workers.ask({ worker: 'stranger' }, () => {})).toThrow('no worker is registered')
  })

  test('a worker that registers again keeps the attempts that it lists, and its old session is closed', async () => {
    const grid = await openGrid(memoryJournal())
    const before = grid.worker('w1', { slots: 2 })
    const [kept] = [await grid.submit(), await grid.submit()]
    const [lease] = before.leases
    const after = grid.worker('w1', { slots: 2, running: [lease?.attemptId ?? ''] })
    expect(before.calls).toEqual(['over: it registered again'])
    grid.engine.workers.disconnected('w1', before.session) // its socket closes late
    await grid.after(60_000)
    expect(after.leases).toMatchObject([{ attempt: 2 }])
    await expect(after.finish(lease)).resolves.toBe('applied')
    expect(await grid.engine.find(LOCAL_CALLER, kept.operation)).toMatchObject({ state: 'completed', attempt: 1 })
  })
})

describe('cancellation', () => {
  test('a queued task is cancelled at once, a running one when its worker confirms', async () => {
    const grid = await openGrid(memoryJournal())
    const w1 = grid.worker('w1')
    const running = await grid.submit()
    const waiting = await grid.submit()
    await grid.engine.cancel(LOCAL_CALLER, waiting.operation)
    expect(await grid.engine.find(LOCAL_CALLER, waiting.operation)).toMatchObject({ state: 'cancelled' })
    const watcher = watchOf(grid.engine, running.operation)
    await grid.engine.cancel(LOCAL_CALLER, running.operation)
    await turns()
    expect(watcher.states.at(-1)).toBe('stopping')
    expect(w1.calls).toEqual([`stop ${w1.leases[0]?.attemptId}: cancelled`])
    // The result arrived before our stop: the task is cancelled all the same.
    await w1.finish()
    await turns()
    expect(watcher.statuses.at(-1)).toMatchObject({ state: 'cancelled', end: { result: undefined } })
    await expect(grid.engine.cancel(LOCAL_CALLER, 'nobody')).rejects.toMatchObject({ fault: { kind: 'absent' } })
    await grid.engine.cancel(LOCAL_CALLER, running.operation) // the task has ended: no effect
  })

  test('cancelling one of two merged operations leaves the other running', async () => {
    const grid = await openGrid(memoryJournal())
    const w1 = grid.worker('w1')
    const same = { actionKey: 'k', cacheable: true }
    const one = await grid.submit(same)
    const other = await grid.submit(same)
    const watchers = [one, other].map(({ operation }) => watchOf(grid.engine, operation))
    await grid.engine.cancel(LOCAL_CALLER, one.operation)
    await turns()
    expect(watchers.map(({ states }) => states.at(-1))).toEqual(['cancelled', 'assigned'])
    await w1.finish()
    await turns()
    expect(watchers.map(({ states }) => states.at(-1))).toEqual(['cancelled', 'completed'])
    expect(await grid.engine.find(LOCAL_CALLER, one.operation)).toMatchObject({
      state: 'cancelled',
      end: { result: undefined },
    })
    expect(await grid.engine.find(LOCAL_CALLER, other.operation)).toMatchObject({ state: 'completed' })
  })

  test('cancelling with forAll cancels every operation of the task', async () => {
    const grid = await openGrid(memoryJournal())
    const same = { actionKey: 'k', cacheable: true }
    const [one, other] = [await grid.submit(same), await grid.submit(same)]
    await grid.engine.cancel(LOCAL_CALLER, one.operation, { forAll: true, what: 'the operator said so' })
    expect(await grid.engine.find(LOCAL_CALLER, other.operation)).toMatchObject({ state: 'cancelled' })
  })
})

describe('operation that needs a waiter', () => {
  test('its task is cancelled after 60 s without a watcher', async () => {
    const grid = await openGrid(memoryJournal(), { scheduler: { noWorkerGraceMs: 1e9 } })
    const { operation } = await grid.submit({ needsWaiter: true })
    await grid.after(30_000)
    const watcher = watchOf(grid.engine, operation)
    await grid.after(29_999)
    watcher.unwatch()
    await grid.after(29_000)
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'queued' })
    await grid.after(31_000)
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'cancelled' })
    expect(watcher.states).toEqual(['queued'])
  })

  test('its task is not cancelled while it is held, or while another operation shares the task', async () => {
    const grid = await openGrid(memoryJournal(), { scheduler: { noWorkerGraceMs: 1e9 } })
    const held = await grid.submit({ needsWaiter: true })
    expect(grid.engine.hold(LOCAL_CALLER, held.operation)).toBe(true)
    const same = { actionKey: 'k', cacheable: true }
    const alone = await grid.submit({ ...same, needsWaiter: true })
    const other = await grid.submit(same)
    await grid.after(120_000)
    expect(grid.engine.figures().queued).toBe(2)
    // The operation has lapsed; a new watch makes it count again.
    const watcher = watchOf(grid.engine, alone.operation)
    await grid.engine.cancel(LOCAL_CALLER, other.operation)
    await turns()
    expect(watcher.states.at(-1)).toBe('queued')
    watcher.unwatch()
    await grid.after(60_000)
    expect(await grid.engine.find(LOCAL_CALLER, alone.operation)).toMatchObject({ state: 'cancelled' })
    expect(grid.engine.leave(LOCAL_CALLER, held.operation)).toBe(true)
    await turns()
    expect(await grid.engine.find(LOCAL_CALLER, held.operation)).toMatchObject({ state: 'cancelled' })
    expect(grid.engine.hold(LOCAL_CALLER, held.operation)).toBe(false)
  })
})

describe('faults and timeouts', () => {
  test('a task with a grid fault is retried after 1 s, one with a final fault fails', async () => {
    const grid = await openGrid(memoryJournal())
    const w1 = grid.worker('w1')
    const { operation } = await grid.submit()
    await w1.finish(undefined, { outcome: { kind: 'fault', what: 'no space left' } })
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'retrying' })
    await grid.after(1001)
    expect(w1.leases).toMatchObject([{ attempt: 2 }])
    await w1.finish(undefined, { outcome: { kind: 'fault', what: 'no such image', final: true } })
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({
      state: 'failed',
      attempt: 2,
      end: { why: 'hopeless', what: 'no such image' },
    })
  })

  test('a task that times out keeps the partial result of its worker', async () => {
    const grid = await openGrid(memoryJournal())
    const w1 = grid.worker('w1')
    const { operation } = await grid.submit({ timeoutMs: 1000 })
    w1.start()
    await w1.finish(undefined, { outcome: { kind: 'timeout' }, result: Buffer.from('so far') })
    const found = await grid.engine.find(LOCAL_CALLER, operation)
    expect(found).toMatchObject({ state: 'timeout', end: { why: 'timeout' } })
    expect(text(found?.end?.result)).toBe('so far')
  })

  test("a worker silent past the task's timeout loses the task, and another worker completes it", async () => {
    const grid = await openGrid(memoryJournal())
    const w1 = grid.worker('w1')
    const { operation } = await grid.submit({ timeoutMs: 1000 })
    w1.start()
    await grid.after(11_001)
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ end: undefined, attempt: 1 })
    const w2 = grid.worker('w2')
    await grid.after(1001)
    await w2.finish()
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({
      state: 'completed',
      attempt: 2,
      worker: 'w2',
    })
  })

  test('a result above resultBytes fails the task', async () => {
    const grid = await openGrid(memoryJournal(), { limits: { resultBytes: 8 } })
    const w1 = grid.worker('w1')
    const { operation } = await grid.submit()
    await w1.finish(undefined, { result: Buffer.alloc(9) })
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({
      state: 'failed',
      end: { result: undefined },
    })
  })

  test('a task that fits no worker fails after 60 s with no-worker; before that, `why` names the missing property', async () => {
    const grid = await openGrid(memoryJournal())
    grid.worker('w1')
    const { operation } = await grid.submit({ properties: [{ name: 'OSFamily', value: 'windows' }] })
    expect((await grid.engine.why(LOCAL_CALLER, operation)).join()).toContain('OSFamily=windows')
    await grid.after(60_001)
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({
      state: 'failed',
      end: { why: 'no-worker' },
    })
    expect((await grid.engine.why(LOCAL_CALLER, operation)).join()).toContain('failed')
  })

  test('after the event loop was blocked, received heartbeats are read before leases expire', async () => {
    const clock = manualClock()
    let skipped = 0
    const stalling = { ...clock, monotonic: () => clock.monotonic() + skipped }
    const grid = await openGrid(memoryJournal(), { clock: stalling, scheduler: { heartbeatTimeoutMs: 20_000 } })
    const w1 = grid.worker('w1')
    await grid.submit()
    skipped = 30_000 // the event loop was blocked for 30 s
    clock.advance(120_000)
    setImmediate(() => w1.heartbeat()) // as when the socket is read
    await turns()
    expect(w1.calls).toEqual([])
    expect(grid.engine.figures().active).toBe(1)
  })
})

test('a drained worker gets no new task, and is ordered to shut down when its last task ends', async () => {
  const grid = await openGrid(memoryJournal())
  const w1 = grid.worker('w1')
  await grid.submit()
  expect(grid.engine.drainWorker(LOCAL_CALLER, 'w1', { shutdown: true })).toBe(true)
  await grid.submit()
  expect(w1.calls).toEqual(['drain'])
  await w1.finish()
  expect(w1.calls).toEqual(['drain', 'shutdown'])
  expect(w1.leases).toEqual([])
  expect(grid.engine.resumeWorker(LOCAL_CALLER, 'w1')).toBe(true)
  expect(w1.leases).toHaveLength(1)
  expect(grid.engine.workers.list()).toMatchObject([{ worker: 'w1', leases: 1, state: 'BUSY' }])
  expect(grid.engine.workers.unregister('w1')).toBe(true)
  expect(grid.engine.drainWorker(LOCAL_CALLER, 'w1')).toBe(false)
  expect(grid.engine.figures().queued).toBe(1)
})

test("a prefetched task begins when its worker's slot is free, or moves to another worker with a free slot", async () => {
  const grid = await openGrid(memoryJournal())
  const w1 = grid.worker('w1', { prefetch: 1 })
  await grid.submit()
  const next = await grid.submit()
  expect(w1.leases.map(({ prefetch }) => prefetch)).toEqual([false, true])
  await w1.finish()
  expect(w1.calls).toEqual([`begin ${w1.leases[0]?.attemptId}`])
  expect(await grid.engine.find(LOCAL_CALLER, next.operation)).toMatchObject({
    state: 'assigned',
    worker: 'w1',
    attempt: 1,
  })
  const last = await grid.submit()
  const [, staged] = w1.leases
  expect(staged).toMatchObject({ operation: last.operation, prefetch: true })
  const w2 = grid.worker('w2')
  expect(w1.calls.at(-1)).toBe(`stop ${staged?.attemptId}: recalled`)
  expect(w2.leases).toMatchObject([{ operation: last.operation, prefetch: false }])
  await expect(w2.finish()).resolves.toBe('applied')
})

test('a closing engine accepts and leases no task, and its queued tasks continue after a restart', async () => {
  const records = memoryRecords()
  const grid = await openGrid(memoryJournal(records))
  const w1 = grid.worker('w1')
  const asked: number[] = []
  grid.worker('w2', { pulls: true })
  const running = await grid.submit()
  await grid.submit()
  grid.engine.workers.ask({ worker: 'w2' }, (leases) => void asked.push(leases.length))
  const other = await grid.submit()
  const watcher = watchOf(grid.engine, other.operation)
  grid.engine.workers.ask({ worker: 'w2' }, (leases) => void asked.push(leases.length))
  const closed = grid.engine.close()
  await expect(grid.submit()).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
  expect(() => grid.worker('w3')).toThrow('the server is stopping')
  await closed
  await expect(w1.finish()).resolves.toBe('applied') // a last result is applied
  expect([asked, w1.leases, w1.calls]).toEqual([[1, 0], [], ['over: the server is stopping']])
  expect(watcher.failures).toEqual(['unavailable'])
  const next = await openGrid(memoryJournal(records))
  expect(await next.engine.find(LOCAL_CALLER, running.operation)).toMatchObject({ state: 'completed' })
  expect(next.worker('w9').leases).toMatchObject([{ operation: other.operation, attempt: 1 }])
})

test('an exception in a watcher or a worker session leaves the engine and other tasks working', async () => {
  const grid = await openGrid(memoryJournal())
  const fail = () => {
    throw new Error('a broken door')
  }
  const w1 = grid.worker('w1')
  const { operation } = await grid.submit()
  grid.engine.watch(LOCAL_CALLER, operation, { notify: fail, failed: fail })
  grid.engine.workers.register(
    { worker: 'broken', slots: 1, properties: [{ name: 'OSFamily', value: 'linux' }] },
    { lease: fail, begin: fail, stop: fail, order: fail, close: fail },
  )
  const other = await grid.submit()
  await turns()
  await w1.finish()
  expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'completed' })
  grid.engine.workers.unregister('broken')
  await turns()
  expect(w1.leases).toMatchObject([{ operation: other.operation }])
})

test('a result that arrives before the report of the start is applied', async () => {
  const grid = await openGrid(memoryJournal())
  const worker = grid.worker('w1')
  const { operation } = await grid.submit()
  const [lease] = worker.leases
  const told = worker.finish()
  worker.start(lease)
  await expect(told).resolves.toBe('applied')
  expect(worker.calls).toEqual([])
  expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'completed' })
})
