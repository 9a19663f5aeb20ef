import { expect, test } from 'vitest'
import { linux, story } from './story.fixture.ts'

const lease = { worker: 'w1', fencing: { epoch: 1, counter: 41 }, started: true }

test('a queued task keeps its place in the queue after a restart', () => {
  const grid = story({ epoch: 2 }).restores('young', { ageMs: 10 }).restores('old', { ageMs: 5000, priority: 0 })
  expect(grid.worker('w1', linux)).toShow('young  assigned to w1')
})

test('after a restart, a leased task is not leased to another worker during the reconnect grace', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease }).worker('w2', linux).beats('w2')
  grid.after('29s')
  expect(grid.core.stateOf('compile')).toBe('running')
  expect(grid.core.why('compile', grid.now)[0]).toContain('worker w1 has 1 s to reconnect')
  expect(grid.after('2s')).toShow('compile  assigned to w2')
})

test('a worker that reconnects with its task keeps it, with the old fencing number', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease }).restores('next', {})
  grid
    .worker('w1', linux, { running: [{ task: 'compile', fencing: lease.fencing }] })
    .beats('w1')
    .after('40s')
  expect(grid.core.stateOf('next'), 'its slot is taken').toBe('queued')
  grid.happens({
    kind: 'finished',
    task: 'compile',
    worker: 'w1',
    fencing: lease.fencing,
    outcome: { kind: 'result', succeeded: true },
  })
  expect(grid).toShow(`compile  completed
                       next     assigned to w1`)
  expect(grid.attempt('next').fencing.epoch).toBe(2)
})

test('a restored task that its worker does not list is queued again without a fault', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease }).worker('w1', linux)
  expect(grid).toShow('compile  assigned to w1')
  expect(grid.count('retrying')).toBe(0)
})

test('a result that arrives before its worker has registered again is applied', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease })
  grid.happens({
    kind: 'finished',
    task: 'compile',
    worker: 'w1',
    fencing: lease.fencing,
    outcome: { kind: 'result', succeeded: true },
  })
  expect(grid).toShow('compile  completed')
})

test('a worker that registers with an unknown task must stop it', () => {
  const running = [{ task: 'done', fencing: { epoch: 1, counter: 7 } }]
  const grid = story({ epoch: 2 }).worker('w1', linux, { running })
  expect(grid.log.find((effect) => effect.kind === 'stop')).toMatchObject({ task: 'done', why: 'superseded' })
})

test('a stopping task is stopped again after a restart, and ends as cancelled', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease, stopping: true })
  grid.worker('w1', linux, { running: [{ task: 'compile', fencing: lease.fencing }] })
  expect(grid.log.filter((effect) => effect.kind === 'stop').length).toBeGreaterThan(0)
  grid.happens({
    kind: 'finished',
    task: 'compile',
    worker: 'w1',
    fencing: lease.fencing,
    outcome: { kind: 'stopped' },
  })
  expect(grid).toShow('compile  cancelled')
})

test('a stopping task whose worker does not reconnect is cancelled', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease, stopping: true })
  expect(grid.after('31s')).toShow('compile  cancelled')
})

test('a stopping task without a lease is cancelled at once after a restart', () => {
  expect(story({ epoch: 2 }).restores('compile', { stopping: true })).toShow('compile  cancelled')
})

test('a retrying task waits for the rest of its delay after a restart', () => {
  const grid = story({ epoch: 2 }).worker('w1', linux).restores('compile', { retryInMs: 4000, faults: 2 })
  expect(grid.core.stateOf('compile')).toBe('retrying')
  expect(grid.after('4s')).toShow('compile  assigned to w1')
})

test('workers that a task was lost with before the restart still count', () => {
  const grid = story({ epoch: 2 })
    .worker('w2', linux)
    .restores('bomb', { faults: 3, lostWorkers: ['w0', 'w1', 'w3'] })
    .starts('bomb')
  grid.happens({ kind: 'disconnected', worker: 'w2' })
  expect(grid.after('11s')).toShow('bomb  failed: lost with w0 and w1 and w3 and w2')
})

test('submissions are merged with restored tasks, and each waiter counts', () => {
  const grid = story({ epoch: 2 }).restores('one', { actionKey: 'k', waiters: ['a', 'b'] })
  grid.submits('two', { actionKey: 'k', waiter: 'c' })
  expect(grid).toShow('two  merged into one')
  for (const waiter of ['a', 'b']) grid.happens({ kind: 'leave', task: 'one', waiter })
  expect(grid.core.stateOf('one')).toBe('queued')
})

test('a full queue accepts restored tasks', () => {
  const grid = story({ epoch: 2, maxQueued: 1 }).restores('a').restores('b').restores('c')
  expect(grid.core.figures().queued).toBe(3)
})
