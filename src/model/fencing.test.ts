import { expect, test } from 'vitest'
import { attemptId, parseAttemptId, sameFencing } from './fencing.ts'

test('an attempt id consists of its task and the fencing number of its lease', () => {
  expect(attemptId('compile', { epoch: 7, counter: 12 })).toBe('compile.7-12')
})

test('an attempt id is parsed equal, with dots and dashes in the task id', () => {
  for (const task of ['compile', 'a.b.c', 'x.1-2', '5e3b7c1a-9d24-4f60-8a17-000000000001']) {
    const fencing = { epoch: 3, counter: 2 ** 40 }
    expect(parseAttemptId(attemptId(task, fencing))).toEqual({ task, fencing })
  }
})

test('any other text is refused as an attempt id', () => {
  for (const text of [
    '',
    'compile',
    'compile.',
    '.1-2',
    'compile.1',
    'compile.01-2',
    'compile.1-99999999999999999',
    'compile.-1-2',
  ])
    expect(() => parseAttemptId(text), text).toThrow('is not the id of an attempt')
})

test('two fencing numbers are equal when epoch and counter are', () => {
  expect(sameFencing({ epoch: 1, counter: 2 }, { epoch: 1, counter: 2 })).toBe(true)
  expect(sameFencing({ epoch: 1, counter: 2 }, { epoch: 2, counter: 2 })).toBe(false)
  expect(sameFencing({ epoch: 1, counter: 2 }, { epoch: 1, counter: 3 })).toBe(false)
})
