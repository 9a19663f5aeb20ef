import { expect, test } from 'vitest'
import { manualClock } from '../testing/manual-clock.ts'
import type { LeaseMessage } from '../wire/workers/lease-stream.ts'
import { openSlots } from './slots.ts'

const lease = (attemptId: string, expiresInMs = 1000): LeaseMessage => ({
  attemptId,
  operation: 'op',
  actionDigest: '',
  timeoutMs: undefined,
  expiresAt: 0,
  expiresInMs,
  queuedAt: undefined,
  spec: new Uint8Array(),
  attempt: 1,
  prefetch: false,
  instance: '',
  origin: 'action',
})

test("an attempt whose lease is not renewed is aborted by the worker's own clock", () => {
  const clock = manualClock()
  const slots = openSlots(2, clock)
  const kept = slots.take(lease('a'))
  const lost = slots.take(lease('b'))
  clock.advance(900)
  slots.renewed(['a', 'unknown'], clock.monotonic())
  clock.advance(200)
  expect([kept?.signal.aborted, lost?.signal.aborted]).toEqual([false, true])
  expect(lost?.endedBy).toBe('lapsed')
  clock.advance(700)
  expect(kept?.signal.aborted).toBe(false)
  clock.advance(100)
  expect(kept?.signal.aborted).toBe(true)
})

test('a heartbeat sent before the lease does not shorten it', () => {
  const clock = manualClock()
  const slots = openSlots(1, clock)
  clock.advance(500)
  const held = slots.take(lease('a'))
  slots.renewed(['a'], 100)
  clock.advance(999)
  expect(held?.signal.aborted).toBe(false)
})

test('an attempt that only waits for its report to be acknowledged takes no slot and cannot be ended', () => {
  const slots = openSlots(1, manualClock())
  const held = slots.take(lease('a'))
  if (held === undefined) throw new Error('not taken')
  expect([slots.busy, slots.ids()]).toEqual([1, ['a']])
  slots.reporting(held)
  expect([slots.busy, slots.ids()]).toEqual([0, ['a']])
  slots.end('a', 'cancelled')
  expect([held.endedBy, held.signal.aborted]).toEqual([undefined, false])
})

test('a prefetched lease takes no slot until it begins', async () => {
  const slots = openSlots(1, manualClock())
  const held = slots.take({ ...lease('a'), prefetch: true })
  let hasBegun = false
  void held?.begun.then(() => {
    hasBegun = true
  })
  await Promise.resolve()
  expect([slots.busy, slots.ahead, hasBegun]).toEqual([0, 1, false])
  slots.begin('a')
  await held?.begun
  expect([slots.busy, slots.ahead, held?.phase]).toEqual([1, 0, 'staging'])
})

test('the first reason to end an attempt is kept', () => {
  const slots = openSlots(1, manualClock())
  const held = slots.take(lease('a'))
  slots.end('a', 'timeout')
  slots.end('a', 'left')
  expect(held?.endedBy).toBe('timeout')
})

test('a lease received twice is one attempt', () => {
  const slots = openSlots(1, manualClock())
  expect(slots.take(lease('a'))).toBeDefined()
  expect(slots.take(lease('a'))).toBeUndefined()
})

test('idle and emptied resolve when the slots are free, and no timer is left', async () => {
  const clock = manualClock()
  const slots = openSlots(2, clock)
  await slots.emptied()
  const held = slots.take(lease('a'))
  const [idle, empty] = [slots.idle(), slots.emptied()]
  if (held === undefined) throw new Error('not taken')
  slots.reporting(held)
  await idle
  slots.free(held)
  await empty
  expect(clock.pending()).toBe(0)
})
