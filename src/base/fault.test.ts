import { expect, test } from 'vitest'
import { FaultError, invalid } from './fault.ts'

test('the message of a fault is its text', () => {
  expect(new FaultError({ kind: 'absent', what: 'no such task' }).message).toBe('no such task')
  expect(new FaultError({ kind: 'exhausted', resource: 'the queue', retryAfterMs: 250 }).message).toBe(
    'the queue is exhausted; retry in 250 ms',
  )
})

test('the message of missing blobs has their number and the first digest', () => {
  const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 7 } as const
  const message = (count: number) => new FaultError({ kind: 'missing', digests: Array(count).fill(digest) }).message
  expect(message(1)).toBe(`missing blob: ${digest.hash}/7`)
  expect(message(3)).toBe(`3 blobs are missing, the first: ${digest.hash}/7`)
})

test('an invalid fault has a why only if one was given', () => {
  expect(invalid('no').fault).toEqual({ kind: 'invalid', what: 'no' })
  expect(invalid('past the end', 'range').fault).toEqual({ kind: 'invalid', what: 'past the end', why: 'range' })
})

test('a fault keeps its cause', () => {
  const cause = new Error('EIO')
  expect(new FaultError({ kind: 'unavailable', what: 'the disk fails' }, cause).cause).toBe(cause)
})
