import { expect, test } from 'vitest'
import { attemptId, parseAttemptId, sameFencing } from './fencing.ts'

test('an attempt is named by its task and the number of its lease', () => {
  expect(attemptId('compile', { epoch: 7, counter: 12 })).toBe('compile.7-12')
})

test('what is written is read back, dots and dashes in the task’s id included', () => {
  for (const task of ['compile', 'a.b.c', 'x.1-2', '5e3b7c1a-9d24-4f60-8a17-000000000001']) {
    const fencing = { epoch: 3, counter: 2 ** 40 }
    expect(parseAttemptId(attemptId(task, fencing))).toEqual({ task, fencing })
  }
})

test('anything else is refused', () => {
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

test('two numbers are the same when both parts are', () => {
  expect(sameFencing({ epoch: 1, counter: 2 }, { epoch: 1, counter: 2 })).toBe(true)
  expect(sameFencing({ epoch: 1, counter: 2 }, { epoch: 2, counter: 2 })).toBe(false)
  expect(sameFencing({ epoch: 1, counter: 2 }, { epoch: 1, counter: 3 })).toBe(false)
})
