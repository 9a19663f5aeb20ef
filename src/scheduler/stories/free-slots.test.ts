import { expect, test } from 'vitest'
import { linux, story } from './story.fixture.ts'

const leasesTo = (grid: ReturnType<typeof story>, worker: string) =>
  grid.log.flatMap((effect) => (effect.kind === 'leased' && effect.worker === worker ? [effect.task] : []))

const noSlot = { kind: 'returned', what: 'its worker has no slot free', noSlot: true } as const

test('a recalled task occupies its staging place until its worker confirms', () => {
  const grid = story().worker('w1', linux, { prefetch: 1 }).submits('a').submits('b')
  const staged = grid.attempt('b')
  grid.worker('w2', linux).submits('c')
  expect(grid).toShow(`b  assigned to w2  attempt 1
                       c  queued`)
  grid.happens({ kind: 'finished', ...staged, outcome: { kind: 'stopped' } })
  expect(grid).toShow('c  staged on w1  attempt 1')
})

test('an attempt that the server ended occupies its slot until the worker confirms', () => {
  const grid = story()
    .worker('w1', linux)
    .beats('w1')
    .submits('loop', { timeoutMs: 1000, maxRetries: 0 })
    .starts('loop')
    .submits('next')
  const ended = grid.attempt('loop')
  expect(grid.after('12s')).toShow('next  queued')
  grid.happens({ kind: 'finished', ...ended, outcome: { kind: 'stopped' } })
  expect(grid).toShow('next  assigned to w1')
})

test('a heartbeat that does not list an attempt confirms its end', () => {
  const grid = story()
    .worker('w1', linux)
    .beats('w1')
    .submits('loop', { timeoutMs: 1000, maxRetries: 0 })
    .starts('loop')
    .submits('next')
  const { task, fencing } = grid.attempt('loop')
  grid.after('12s').happens({ kind: 'heartbeat', worker: 'w1', holds: [{ task, fencing }] })
  expect(grid).toShow('next  queued')
  expect(grid.happens({ kind: 'heartbeat', worker: 'w1', holds: [] })).toShow('next  assigned to w1')
})

test('the slot of an unconfirmed attempt is free after stopGraceMs', () => {
  const grid = story()
    .worker('w1', linux)
    .beats('w1')
    .submits('loop', { timeoutMs: 1000, maxRetries: 0 })
    .starts('loop')
    .submits('next')
  expect(grid.after('40s')).toShow('next  queued')
  expect(grid.after('2s')).toShow('next  assigned to w1')
})

test('unknown attempts of a registering worker occupy slots until it has ended them', () => {
  const grid = story().worker('w1', linux).submits('old').starts('old')
  const { task, fencing } = grid.attempt('old')
  grid.happens({ kind: 'disconnected', worker: 'w1' }).after('11s') // its tasks are queued again
  grid.worker('w1', linux, { running: [{ task, fencing }] })
  expect(grid).toShow('old  queued  attempt 2')
  grid.happens({ kind: 'finished', task, fencing, worker: 'w1', outcome: { kind: 'stopped' } })
  expect(grid).toShow('old  assigned to w1  attempt 2')
})

test('a pulling worker has no unconfirmed attempts: it counts its slots itself', () => {
  const grid = story().worker('w1', linux, { pulls: true }).beats('w1')
  grid
    .submits('loop', { timeoutMs: 1000, maxRetries: 0 })
    .happens({ kind: 'ask', worker: 'w1', tasks: 1 })
    .starts('loop')
  grid.submits('next').after('12s').happens({ kind: 'ask', worker: 'w1', tasks: 1 })
  expect(grid).toShow('next  assigned to w1')
})

test('a rejection for lack of a slot is not an attempt and is not repeated', () => {
  const grid = story().worker('w1', linux, { slots: 2 }).submits('a')
  grid.happens({ ...noSlot, ...grid.attempt('a') })
  expect(grid).toShow('a  queued')
  grid.submits('b')
  expect(leasesTo(grid, 'w1')).toEqual(['a'])
  expect(grid.happens({ kind: 'heartbeat', worker: 'w1' })).toShow(`a  assigned to w1  attempt 1
                                                                    b  assigned to w1  attempt 1`)
})

test('a task that a worker rejects for lack of a slot goes to another at once', () => {
  const grid = story().worker('w1', linux).submits('a').worker('w2', linux)
  expect(grid.happens({ ...noSlot, ...grid.attempt('a') })).toShow('a  assigned to w2  attempt 1')
})

test('a worker that rejected a task gets tasks again after it has ended one', () => {
  const grid = story().worker('w1', linux, { slots: 2 }).submits('a').starts('a').submits('b')
  grid.happens({ ...noSlot, ...grid.attempt('b') })
  expect(grid).toShow('b  queued')
  expect(grid.finishes('a')).toShow('b  assigned to w1  attempt 1')
})

test('a worker that rejects every task gets one lease per heartbeat, and the task has no faults', () => {
  const grid = story().worker('w1', linux, { prefetch: 1 }).beats('w1').submits('a').submits('b')
  const refuseAll = (): void => {
    for (const task of ['a', 'b'])
      if (/assigned|staged/.test(grid.shown.get(task)?.text ?? '')) grid.happens({ ...noSlot, ...grid.attempt(task) })
  }
  refuseAll()
  for (let i = 0; i < 100; i++) {
    grid.after('5s')
    refuseAll()
  }
  expect(leasesTo(grid, 'w1').length).toBeLessThan(420)
  expect(grid.count('retrying')).toBe(0)
  expect(grid.worker('w2', linux, { slots: 2 })).toShow(`a  assigned to w2  attempt 1
                                                         b  assigned to w2  attempt 1`)
})

test('a staged task of a draining or lost worker is queued again without an attempt', () => {
  const drained = story().worker('w1', linux, { prefetch: 1 }).submits('a').starts('a').submits('b')
  drained.happens({ kind: 'drain', worker: 'w1' })
  expect(drained.worker('w2', linux)).toShow('b  assigned to w2  attempt 1')
  const lost = story().worker('w1', linux, { prefetch: 1 }).submits('a').starts('a').submits('b')
  lost.happens({ kind: 'unregister', worker: 'w1' })
  expect(lost.worker('w2', linux, { slots: 2 })).toShow('b  assigned to w2  attempt 1')
})

test('a staged task whose lease ends, or that its worker drops, has not been tried', () => {
  const staged = () =>
    story({ leaseMs: 20_000 }).worker('w1', linux, { prefetch: 1 }).submits('a').starts('a').submits('b')
  const dropped = staged()
  const { task, fencing } = dropped.attempt('a')
  dropped.after('11s').happens({ kind: 'heartbeat', worker: 'w1', holds: [{ task, fencing }] })
  const unrenewed = staged()
  const first = unrenewed.attempt('b')
  unrenewed.after('21s')
  expect(unrenewed.log).toContainEqual({ kind: 'stop', why: 'superseded', ...first })
  for (const grid of [dropped, unrenewed]) {
    expect(grid.log.filter((effect) => effect.kind === 'retrying' && effect.task === 'b')).toEqual([])
    expect(grid.worker('w2', linux, { slots: 2 })).toShow('b  assigned to w2  attempt 1')
  }
})
