import { expect, test } from 'vitest'
import { linux, story } from './story.fixture.ts'

const lease = { worker: 'w1', fencing: { epoch: 1, counter: 41 }, started: true }

test('a task that waited before the restart waits again, in its old place', () => {
  const grid = story({ epoch: 2 }).restores('young', { ageMs: 10 }).restores('old', { ageMs: 5000, priority: 0 })
  expect(grid.worker('w1', linux)).toShow('young  assigned to w1')
})

test('a task that was out is not given to another while its worker may come back', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease }).worker('w2', linux).beats('w2')
  grid.after('29s')
  expect(grid.core.stateOf('compile')).toBe('running')
  expect(grid.core.why('compile', grid.now)[0]).toContain('worker w1 has 1 s to reconnect')
  expect(grid.after('2s')).toShow('compile  assigned to w2')
})

test('a worker that comes back with it keeps it, under the old number', () => {
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

test('a worker that comes back without it never had it: queued again, and nobody’s fault', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease }).worker('w1', linux)
  expect(grid).toShow('compile  assigned to w1')
  expect(grid.count('retrying')).toBe(0)
})

test('a result that comes before its worker has registered again is applied', () => {
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

test('a worker that comes back with a task of long ago is told to stop it', () => {
  const running = [{ task: 'done', fencing: { epoch: 1, counter: 7 } }]
  const grid = story({ epoch: 2 }).worker('w1', linux, { running })
  expect(grid.log.find((effect) => effect.kind === 'stop')).toMatchObject({ task: 'done', why: 'superseded' })
})

test('a task that was being stopped is stopped again, and ends as cancelled', () => {
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

test('a task that was being stopped, and whose worker never comes back, is cancelled', () => {
  const grid = story({ epoch: 2 }).restores('compile', { lease, stopping: true })
  expect(grid.after('31s')).toShow('compile  cancelled')
})

test('a cancelled task without a lease is cancelled at once', () => {
  expect(story({ epoch: 2 }).restores('compile', { stopping: true })).toShow('compile  cancelled')
})

test('a task between two attempts waits for the rest of that time', () => {
  const grid = story({ epoch: 2 }).worker('w1', linux).restores('compile', { retryInMs: 4000, faults: 2 })
  expect(grid.core.stateOf('compile')).toBe('retrying')
  expect(grid.after('4s')).toShow('compile  assigned to w1')
})

test('the workers that it was lost with before the restart still count', () => {
  const grid = story({ epoch: 2 })
    .worker('w2', linux)
    .restores('bomb', { faults: 3, lostWorkers: ['w0', 'w1', 'w3'] })
    .starts('bomb')
  grid.happens({ kind: 'disconnected', worker: 'w2' })
  expect(grid.after('11s')).toShow('bomb  failed: lost with w0 and w1 and w3 and w2')
})

test('restored tasks are merged with like any other, and every waiter counts', () => {
  const grid = story({ epoch: 2 }).restores('one', { actionKey: 'k', waiters: ['a', 'b'] })
  grid.submits('two', { actionKey: 'k', waiter: 'c' })
  expect(grid).toShow('two  merged into one')
  for (const waiter of ['a', 'b']) grid.happens({ kind: 'leave', task: 'one', waiter })
  expect(grid.core.stateOf('one')).toBe('queued')
})

test('a full queue takes back what it had accepted', () => {
  const grid = story({ epoch: 2, maxQueued: 1 }).restores('a').restores('b').restores('c')
  expect(grid.core.figures().queued).toBe(3)
})
