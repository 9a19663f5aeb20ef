import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aDigest, aFunction } from '../messages/messages.fixture.ts'
import { actionKeyOf, actionOfKey } from './action-key.ts'

test('a key is read back as the digest that it was made of', () => {
  fc.assert(
    fc.property(aFunction.chain(aDigest), (digest) => {
      expect(actionOfKey(actionKeyOf(digest))).toEqual(digest)
    }),
  )
})

test('the same digits under another function are another key', () => {
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
])('%j is a key of another kind', (key) => {
  expect(actionOfKey(key)).toBeUndefined()
})
