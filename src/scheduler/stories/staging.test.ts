import { expect, test } from 'vitest'
import { linux, story } from './story.fixture.ts'

test('a full worker stages the next task, and starts it when a slot becomes free', () => {
  const grid = story().worker('w1', linux, { prefetch: 1 }).submits('a').submits('b').submits('c')
  expect(grid).toShow(`a  assigned to w1
                       b  staged on w1
                       c  queued`)
  grid.finishes('a')
  expect(grid).toShow(`b  assigned to w1
                       c  staged on w1`)
  expect(grid.log.some((effect) => effect.kind === 'begin' && effect.task === 'b')).toBe(true)
  expect(grid.starts('b').finishes('b').finishes('c')).toShow('c  completed')
})

test('no task is staged while a slot is free on any worker', () => {
  const grid = story()
    .worker('w1', linux, { prefetch: 1 })
    .worker('w2', linux, { prefetch: 1 })
    .submits('a')
    .submits('b')
  expect(grid.log.some((effect) => effect.kind === 'leased' && effect.prefetch)).toBe(false)
})

test('a staged task is recalled when a slot becomes free on another worker', () => {
  const grid = story().worker('w1', linux, { prefetch: 1 }).submits('a').submits('b')
  const staged = grid.attempt('b')
  grid.worker('w2', linux)
  expect(grid).toShow('b  assigned to w2  attempt 1')
  expect(grid.log.find((effect) => effect.kind === 'stop')).toEqual({ kind: 'stop', why: 'recalled', ...staged })
  grid.happens({ kind: 'finished', ...staged, outcome: { kind: 'result', succeeded: true } })
  expect(grid, 'the old lease counts for nothing').toShow('b  assigned to w2')
})

test('the loss of a worker is not a fault of its staged tasks', () => {
  const grid = story().worker('w1', linux, { prefetch: 1 }).submits('a').starts('a').submits('b')
  grid.happens({ kind: 'disconnected', worker: 'w1' }).after('11s').worker('w2', linux, { slots: 2 })
  expect(grid.finishes('b')).toShow('b  completed')
  expect(grid.log.filter((effect) => effect.kind === 'retrying').map(({ task }) => task)).toEqual(['a'])
})

test('when a staged task is cancelled, the next one is staged', () => {
  const grid = story().worker('w1', linux, { prefetch: 1 }).submits('a').submits('b').submits('c').cancels('b')
  expect(grid).toShow('b  stopping')
  expect(grid.finishes('b', { kind: 'stopped' })).toShow(`b  cancelled
                                                         c  staged on w1`)
})

test('a draining worker gets no tasks, returns its staged ones, and shuts down when it has none', () => {
  const grid = story().worker('w1', linux, { prefetch: 1 }).submits('a').starts('a').submits('b')
  grid.happens({ kind: 'drain', worker: 'w1', shutdown: true })
  expect(grid).toShow(`w1  DRAINING
                       a   running on w1
                       b   queued`)
  expect(grid.log).toContainEqual({ kind: 'order', worker: 'w1', order: 'drain' })
  grid.finishes('a')
  expect(grid.log.at(-1)).toEqual({ kind: 'order', worker: 'w1', order: 'shutdown' })
  expect(grid).toShow('b  queued')
})

test('a worker can start its drain with a heartbeat', () => {
  const grid = story().worker('w1', linux).happens({ kind: 'heartbeat', worker: 'w1', draining: true }).submits('a')
  expect(grid).toShow(`w1  DRAINING
                       a   queued`)
})

test('resume ends a drain', () => {
  const grid = story().worker('w1', linux).happens({ kind: 'drain', worker: 'w1' }).submits('a')
  expect(grid.happens({ kind: 'resume', worker: 'w1' })).toShow('a  assigned to w1')
})

test('a task that only draining workers fit fails after the grace time', () => {
  const grid = story().worker('w1', linux).beats('w1').happens({ kind: 'drain', worker: 'w1' }).submits('a')
  expect(grid.after('61s')).toShow('a  failed: no worker is registered')
})
