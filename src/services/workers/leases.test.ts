import { expect, test } from 'vitest'
import { HeldAttempts } from './leases.ts'

test('a heartbeat without a list renews started attempts, and attempts that may not have arrived yet', () => {
  const held = new HeldAttempts(['before'])
  held.given('begun', 100)
  held.given('on its way', 100)
  held.begun('begun')
  held.begun('never heard of')
  expect(held.renewedBy(undefined, 100)).toEqual(['before', 'begun', 'on its way'])
  expect(held.renewedBy(undefined, 101)).toEqual(['before', 'begun'])
  held.ended('begun')
  expect(held.renewedBy(undefined, 101)).toEqual(['before'])
})

test('a heartbeat with a list renews exactly the listed attempts', () => {
  const held = new HeldAttempts()
  held.given('a', 100)
  held.given('b', 100)
  held.cancel('b', 'cancelled')
  expect(held.renewedBy(['a', 'c'], 0)).toEqual(['a', 'c'])
  expect(held.toCancel).toEqual([])
  expect(held.renewedBy(undefined, 0)).toEqual(['a'])
})

test('a cancellation is repeated until its attempt ends, and the attempt is renewed until then', () => {
  const held = new HeldAttempts()
  held.given('a', 100)
  held.given('b', 100)
  held.cancel('a', 'cancelled')
  held.cancel('b', 'superseded')
  expect(held.renewedBy(undefined, 0)).toEqual(['a'])
  expect([held.toCancel, held.toCancel]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  held.ended('a')
  expect(held.toCancel).toEqual(['b'])
})

test('at most 10,000 unconfirmed cancellations are kept', () => {
  const held = new HeldAttempts()
  for (let i = 0; i < 20_000; i++) held.cancel(`${i}`, 'superseded')
  expect(held.toCancel).toHaveLength(10_000)
  expect(held.toCancel.at(-1)).toBe('19999')
})

test('a cancellation with an id of 300 characters is not kept', () => {
  const held = new HeldAttempts()
  held.cancel(`${'x'.repeat(300)}.1-1`, 'superseded')
  expect(held.toCancel).toEqual([])
})
