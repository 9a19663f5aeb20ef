/** The guarantees after the server was killed: one test per guarantee. */
import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import { memoryJournal, memoryRecords } from '../storage/journal/memory-journal.ts'
import { manualClock } from '../testing/manual-clock.ts'
import type { EngineOptions } from './engine-options.ts'
import { fakeWorker, type Grid, LINUX, openGrid, text, turns, watchOf } from './grid.fixture.ts'

/** A server that is killed repeatedly; only its journal survives. */
function machine(rest: Partial<Omit<EngineOptions, 'clock'>> = {}) {
  const records = memoryRecords()
  const clock = manualClock()
  let kill = (): void => {}
  return {
    async start(): Promise<Grid> {
      kill()
      let isDead = false
      kill = () => {
        isDead = true
      }
      const journal = memoryJournal(records)
      const never = new Promise<never>(() => {})
      const alive = { ...clock, after: (ms: number, call: () => void) => clock.after(ms, () => isDead || call()) }
      return openGrid(
        { ...journal, record: (facts, word) => (isDead ? never : journal.record(facts, word)) },
        { ...rest, clock: alive },
      )
    },
  }
}

describe('restart after kill -9 of the server', () => {
  test('every acknowledged task is still queued, with its note', async () => {
    const server = machine()
    const before = await server.start()
    const acknowledged = [await before.submit(), await before.submit({ priority: 7, note: Buffer.from('n') })]
    const after = await server.start()
    const w1 = after.worker('w1', { slots: 5 })
    expect(w1.leases.map(({ operation }) => operation)).toEqual(acknowledged.map(({ operation }) => operation))
    expect([...after.engine.operations()].map(({ operation, note }) => [operation, note?.length])).toEqual([
      [acknowledged[0]?.operation, undefined],
      [acknowledged[1]?.operation, 1],
    ])
  })

  test('a worker that registers again keeps its running attempt, and its result is applied', async () => {
    const server = machine()
    const before = await server.start()
    const w1 = before.worker('w1')
    const { operation, task } = await before.submit()
    w1.start()
    await before.after(50) // its start is recorded
    const after = await server.start()
    const other = after.worker('w2')
    await after.after(10_000)
    expect(other.leases).toEqual([]) // w1 has 30 s to reconnect
    const [lease] = w1.leases
    const again = fakeWorker(after.engine, {
      worker: 'w1',
      slots: 1,
      properties: LINUX,
      running: [lease?.attemptId ?? ''],
    })
    const watcher = watchOf(after.engine, operation)
    await turns()
    expect(watcher.statuses).toMatchObject([{ state: 'running', worker: 'w1', attempt: 1 }])
    await after.after(60_000)
    await expect(again.finish(lease)).resolves.toBe('applied')
    await turns()
    expect(watcher.result).toBe(`result of ${task} by w1`)
  })

  test('a result is applied before its worker has registered again', async () => {
    const server = machine()
    const w1 = (await server.start()).worker('w1')
    const before = await server.start() // no task is open yet
    const { operation } = await before.submit()
    const real = before.worker('w1')
    await turns()
    const after = await server.start()
    const [lease] = real.leases
    const word = { worker: 'w1', attemptId: lease?.attemptId ?? '' }
    const report = { outcome: { kind: 'result', succeeded: true } as const, result: Buffer.from('done') }
    await expect(after.engine.workers.finished(word, report)).resolves.toBe('applied')
    expect(await after.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'completed', worker: 'w1' })
    await expect(after.engine.workers.finished(word, report)).resolves.toBe('superseded')
    expect(w1.calls).toEqual([])
    expect(after.engine.workers.heartbeat('w1')).toBe(false) // it must register again
  })

  test('a task whose worker does not reconnect in 30 s is leased to another worker, and the late result is superseded', async () => {
    const server = machine()
    const before = await server.start()
    const w1 = before.worker('w1')
    const { operation } = await before.submit()
    await turns()
    const after = await server.start()
    const w2 = after.worker('w2')
    await after.after(30_001)
    expect(w2.leases).toMatchObject([{ operation, attempt: 2 }])
    const late = { worker: 'w1', attemptId: w1.leases[0]?.attemptId ?? '' }
    const report = { outcome: { kind: 'result', succeeded: true } as const, result: Buffer.from('late') }
    await expect(after.engine.workers.finished(late, report)).resolves.toBe('superseded')
    await w2.finish()
    expect(text((await after.engine.find(LOCAL_CALLER, operation))?.end?.result)).toContain('by w2')
  })

  test('every merged operation can be watched by its own name', async () => {
    const server = machine()
    const before = await server.start()
    const same = { actionKey: 'k', cacheable: true }
    const all = [
      await before.submit(same),
      await before.submit(same),
      await before.submit({ ...same, note: Buffer.from('x') }),
    ]
    const after = await server.start()
    const watchers = all.map(({ operation }) => watchOf(after.engine, operation))
    await turns()
    const joined = await after.submit(same)
    expect(joined.task).toBe(all[0]?.task)
    const w1 = after.worker('w1')
    await w1.finish()
    await turns()
    for (const [i, watcher] of watchers.entries()) {
      expect(watcher.states).toEqual(['queued', 'completed'])
      expect(watcher.statuses[0]?.operation).toBe(all[i]?.operation)
      expect(watcher.result).toContain('by w1')
    }
  })

  test('a result is readable for retentionMs, then its operation is unknown', async () => {
    const server = machine({ retentionMs: 60_000 })
    const before = await server.start()
    const { operation } = await before.submit()
    await before.worker('w1').finish()
    const after = await server.start()
    const watcher = watchOf(after.engine, operation)
    await turns()
    expect(watcher.result).toContain('by w1')
    await after.after(59_000)
    expect(await after.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'completed' })
    await after.after(5000)
    expect(await after.engine.find(LOCAL_CALLER, operation)).toBeUndefined()
  })

  test('a stopping task is stopped, and a retrying one waits for the rest of its delay', async () => {
    const server = machine()
    const before = await server.start()
    const w1 = before.worker('w1', { slots: 2 })
    const [stopping, retrying] = [await before.submit(), await before.submit()]
    await before.engine.cancel(LOCAL_CALLER, stopping.operation)
    await w1.finish(w1.leases[1], { outcome: { kind: 'fault', what: 'no disk' } })
    await turns()
    const after = await server.start()
    const running = [w1.leases[0]?.attemptId ?? '']
    const again = fakeWorker(after.engine, { worker: 'w1', slots: 2, properties: LINUX, running })
    expect(again.calls).toEqual([`stop ${running[0]}: cancelled`])
    expect(again.leases).toEqual([])
    await again.finish(w1.leases[0], { outcome: { kind: 'stopped' } })
    expect(await after.engine.find(LOCAL_CALLER, stopping.operation)).toMatchObject({ state: 'cancelled' })
    await after.after(999)
    expect(again.leases).toEqual([])
    await after.after(2)
    expect(again.leases).toMatchObject([{ operation: retrying.operation, attempt: 2 }])
  })

  test('a cancelled operation stays cancelled, and one that needs a waiter is cancelled after 60 s without one', async () => {
    const server = machine({ scheduler: { noWorkerGraceMs: 1e9 } })
    const before = await server.start()
    const same = { actionKey: 'k', cacheable: true }
    const [one, other] = [await before.submit(same), await before.submit({ ...same, needsWaiter: true })]
    await before.engine.cancel(LOCAL_CALLER, one.operation)
    const after = await server.start()
    const watcher = watchOf(after.engine, one.operation)
    await turns()
    expect(watcher.states).toEqual(['cancelled'])
    await after.after(60_001)
    expect(await after.engine.find(LOCAL_CALLER, other.operation)).toMatchObject({ state: 'cancelled' })
  })

  test('an unknown property is unavailable for 30 s while workers may reconnect, and invalid after that', async () => {
    const server = machine({ scheduler: { refuseUnknownProperties: true } })
    await (await server.start()).submit()
    const after = await server.start()
    after.worker('w1')
    const windows = { properties: [{ name: 'GPU', value: 'yes' }] }
    await expect(after.submit(windows)).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    await after.after(30_001)
    await expect(after.submit(windows)).rejects.toMatchObject({ fault: { kind: 'invalid' } })
  })

  test('a property that a worker offered before the restart is known while that worker is absent', async () => {
    const server = machine({ scheduler: { refuseUnknownProperties: true } })
    const before = await server.start()
    before.worker('w1', { properties: [...LINUX, { name: 'GPU', value: 'yes' }] })
    before.worker('w2', { properties: [...LINUX, { name: 'GPU', value: 'no' }] })
    await turns()
    for (let start = 0; start < 2; start++) {
      const after = await server.start()
      after.worker('w3')
      expect(await after.submit({ properties: [{ name: 'GPU', value: 'yes' }] })).toMatchObject({ state: 'queued' })
      const slip = { properties: [{ name: 'GPUU', value: 'yes' }] }
      await expect(after.submit(slip)).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    }
  })

  test('faults before the restart count towards maxRetries', async () => {
    const server = machine()
    const before = await server.start()
    const w1 = before.worker('w1')
    const { operation } = await before.submit({ maxRetries: 1 })
    const fault = { outcome: { kind: 'fault', what: 'no disk' } } as const
    await w1.finish(undefined, fault)
    await before.after(60_000)
    expect(w1.leases).toMatchObject([{ attempt: 2 }])
    const after = await server.start()
    const running = w1.leases.map(({ attemptId }) => attemptId)
    const again = fakeWorker(after.engine, { worker: 'w1', slots: 1, properties: LINUX, running })
    await again.finish(w1.leases[0], fault)
    await turns()
    expect(await after.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'failed', end: { why: 'faults' } })
  })

  test('the roots of open tasks and of kept results are held again', async () => {
    const held = new Map<string, number>()
    const roots = {
      hold: (task: string, what: string, digests: readonly unknown[]) =>
        void held.set(`${task} ${what}`, digests.length),
      release: (task: string, what: string) => void held.delete(`${task} ${what}`),
    }
    const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 5 } as const
    const server = machine({ roots, retentionMs: 60_000 })
    const before = await server.start()
    const done = await before.submit({ roots: [digest] })
    const w1 = before.worker('w1')
    expect([...held]).toEqual([[`${done.task} inputs`, 1]])
    await w1.finish(undefined, { roots: [digest, digest] })
    const open = await before.submit({ roots: [digest] })
    const expected = new Map([
      [`${done.task} outputs`, 2],
      [`${open.task} inputs`, 1],
    ])
    expect(held).toEqual(expected)
    held.clear()
    const after = await server.start()
    await turns(20)
    expect(held).toEqual(expected)
    await after.after(58_000)
    await after.after(5000)
    expect([...held.keys()]).not.toContain(`${done.task} outputs`)
  })
})
