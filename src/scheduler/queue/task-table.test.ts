import { expect, test } from 'vitest'
import { linux, story } from '../stories/story.fixture.ts'

test('identical tasks of two instances are two tasks, and each has its own that are merged with it', () => {
  const grid = story()
    .submits('a', { instance: 'one', actionKey: 'k/1' })
    .submits('b', { instance: 'two', actionKey: 'k/1' })
  grid.submits('c', { instance: 'one', actionKey: 'k/1' }).submits('d', { instance: 'two', actionKey: 'k/1' })
  expect(grid).toShow(`a  queued
                       b  queued
                       c  merged into a
                       d  merged into b`)
})

test('an id may come again when its task is finished, and so may an action key', () => {
  const grid = story().worker('w1', linux)
  for (let i = 0; i < 3; i++) {
    grid.submits('again', { actionKey: 'k/1' })
    expect(grid.submits('again', { actionKey: 'k/2' })).toShow('again  refused: the task id again is already in use')
    grid.finishes('again')
    expect(grid.core.stateOf('again')).toBeUndefined()
  }
  expect(grid.count('merged')).toBe(0)
})

test('a report that names another task or worker than its lease has is recorded, and nothing comes of it', () => {
  const grid = story().worker('w1', linux).worker('w2', linux).submits('a').submits('b')
  const outcome = { kind: 'result', succeeded: true } as const
  const { fencing } = grid.attempt('a')
  const other = grid.attempt('b')
  grid.happens({ kind: 'finished', ...other, fencing, outcome })
  grid.happens({ kind: 'finished', ...grid.attempt('a'), worker: other.worker, outcome })
  for (const counter of [Number.NaN, -1, 0.5, 2 ** 60])
    grid.happens({ kind: 'finished', ...other, fencing: { epoch: 1, counter }, outcome })
  expect(grid.count('superseded')).toBe(6)
  expect([grid.core.stateOf('a'), grid.core.stateOf('b')]).toEqual(['assigned', 'assigned'])
})

test('a lease that ended is not found again when the next task has been given it', () => {
  const grid = story().worker('w1', linux).submits('a').submits('b')
  const first = grid.attempt('a')
  grid.finishes('a')
  expect(grid.attempt('b').fencing).not.toEqual(first.fencing)
  grid.happens({ kind: 'finished', ...first, outcome: { kind: 'result', succeeded: true } })
  expect(grid.log.at(-1)).toEqual({ kind: 'superseded', ...first })
  expect(grid.core.stateOf('b')).toBe('assigned')
})
