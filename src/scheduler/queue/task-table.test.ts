import { expect, test } from 'vitest'
import { linux, story } from '../stories/story.fixture.ts'

test('identical tasks are merged only within their instance', () => {
  const grid = story()
    .submits('a', { instance: 'one', actionKey: 'k/1' })
    .submits('b', { instance: 'two', actionKey: 'k/1' })
  grid.submits('c', { instance: 'one', actionKey: 'k/1' }).submits('d', { instance: 'two', actionKey: 'k/1' })
  expect(grid).toShow(`a  queued
                       b  queued
                       c  merged into a
                       d  merged into b`)
})

test('ids and action keys can be reused after the task is finished', () => {
  const grid = story().worker('w1', linux)
  for (let i = 0; i < 3; i++) {
    grid.submits('again', { actionKey: 'k/1' })
    expect(grid.submits('again', { actionKey: 'k/2' })).toShow('again  refused: the task id again is already in use')
    grid.finishes('again')
    expect(grid.core.stateOf('again')).toBeUndefined()
  }
  expect(grid.count('merged')).toBe(0)
})

test('a report with another task or worker than its lease is recorded and ignored', () => {
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

test('a reused lease object is not found under its old fencing number', () => {
  const grid = story().worker('w1', linux).submits('a').submits('b')
  const first = grid.attempt('a')
  grid.finishes('a')
  expect(grid.attempt('b').fencing).not.toEqual(first.fencing)
  grid.happens({ kind: 'finished', ...first, outcome: { kind: 'result', succeeded: true } })
  expect(grid.log.at(-1)).toEqual({ kind: 'superseded', ...first })
  expect(grid.core.stateOf('b')).toBe('assigned')
})
