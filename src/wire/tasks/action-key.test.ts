import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aDigest, aFunction } from '../messages/messages.fixture.ts'
import { actionKeyOf, actionOfKey } from './action-key.ts'

test('an action key round-trips', () => {
  fc.assert(
    fc.property(aFunction.chain(aDigest), (digest) => {
      expect(actionOfKey(actionKeyOf(digest))).toEqual(digest)
    }),
  )
})

test('the same hash under another function gives another key', () => {
  const hash = '0'.repeat(64)
  expect(actionKeyOf({ fn: 'sha256', hash, size: 1 })).not.toBe(actionKeyOf({ fn: 'blake3', hash, size: 1 }))
})

test.each([
  '',
  'sha256',
  'sha256/',
  'sha256/abc/1',
  `nothing/${'0'.repeat(64)}/1`,
  `sha256/${'0'.repeat(64)}`,
  'step/7',
])('%j is not an action key', (key) => {
  expect(actionOfKey(key)).toBeUndefined()
})
