import { expect, test } from 'vitest'
import { linux, story } from './story.fixture.ts'

test('a queued task is cancelled at once', () => {
  const grid = story().submits('compile').cancels('compile').worker('w1', linux)
  expect(grid).toShow(`compile  cancelled
                       w1       ONLINE`)
})

test('a retrying task is cancelled at once', () => {
  const grid = story().worker('w1', linux).submits('compile').fails('compile').cancels('compile').after('1m')
  expect(grid).toShow('compile  cancelled')
  expect(grid.count('leased')).toBe(1)
})

test('a cancelled running task is stopping until its worker confirms', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile').cancels('compile')
  expect(grid).toShow('compile  stopping')
  expect(grid.log.at(-1)).toMatchObject({ kind: 'stop', worker: 'w1', task: 'compile', why: 'cancelled' })
  expect(grid.finishes('compile', { kind: 'stopped' })).toShow(`compile  cancelled
                                                               w1       ONLINE`)
})

test('a cancelled task ends as cancelled, even if its worker reports a result', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile').cancels('compile').finishes('compile')
  expect(grid).toShow('compile  cancelled')
})

test('a cancelled task ends after stopGraceMs if its worker does not confirm', () => {
  const grid = story().worker('w1', linux).beats('w1').submits('compile').starts('compile').cancels('compile')
  expect(grid.after('29s')).toShow('compile  stopping')
  expect(grid.after('2s')).toShow('compile  cancelled')
})

test('a stopping task ends when its worker is lost', () => {
  const grid = story().worker('w1', linux).worker('w2', linux).submits('compile').starts('compile').cancels('compile')
  grid.happens({ kind: 'disconnected', worker: grid.attempt('compile').worker }).after('11s')
  expect(grid).toShow('compile  cancelled')
})

test('cancelling twice has the effect of cancelling once', () => {
  const grid = story().worker('w1', linux).submits('compile').cancels('compile').cancels('compile')
  expect(grid.count('stop')).toBe(1)
})

test('identical tasks of an instance are merged, and the task is cancelled when the last waiter leaves', () => {
  const grid = story().worker('w1', linux)
  grid
    .submits('one', { actionKey: 'k', waiter: 'operations/1' })
    .submits('two', { actionKey: 'k', waiter: 'operations/2' })
  expect(grid).toShow('two  merged into one')
  grid.happens({ kind: 'leave', task: 'one', waiter: 'operations/1' })
  expect(grid, 'leaving twice is leaving once').toShow('one  assigned to w1')
  grid.happens({ kind: 'leave', task: 'one', waiter: 'operations/1' })
  expect(grid).toShow('one  assigned to w1')
  grid.happens({ kind: 'leave', task: 'one', waiter: 'operations/2' })
  expect(grid).toShow('one  stopping')
})

test('a task continues for a second waiter when the first one leaves', () => {
  const grid = story().submits('one', { waiter: 'a' }).happens({ kind: 'join', task: 'one', waiter: 'b' })
  expect(grid.happens({ kind: 'leave', task: 'one', waiter: 'a' })).toShow('one  queued')
  expect(grid.happens({ kind: 'leave', task: 'one', waiter: 'b' })).toShow('one  cancelled')
})

test('tasks of different instances are never merged', () => {
  const grid = story()
    .submits('one', { actionKey: 'k', instance: 'a' })
    .submits('two', { actionKey: 'k', instance: 'b' })
  expect(grid).toShow('two  queued')
})

test('tasks without an action key are never merged', () => {
  expect(story().submits('one').submits('two')).toShow('two  queued')
})

test('merged tasks have the more urgent priority', () => {
  const grid = story().submits('slow', { actionKey: 'k', priority: 5 }).submits('other', { priority: 3 })
  grid.submits('fast', { actionKey: 'k', priority: 1 })
  expect(grid.log.at(-1)).toEqual({ kind: 'raised', task: 'slow', priority: 1 })
  expect(grid.worker('w1', linux)).toShow(`slow   assigned to w1
                                          other  queued`)
})

test('submissions are not merged with a stopping task', () => {
  const grid = story().worker('w1', linux).submits('one', { actionKey: 'k' }).cancels('one')
  expect(grid.submits('two', { actionKey: 'k' })).toShow('two  queued')
  expect(grid.finishes('one')).toShow(`one  cancelled
                                       two  assigned to w1`)
})

test('submissions are not merged with a finished task', () => {
  const grid = story().worker('w1', linux).submits('one', { actionKey: 'k' }).finishes('one')
  expect(grid.submits('two', { actionKey: 'k' })).toShow('two  assigned to w1')
})
