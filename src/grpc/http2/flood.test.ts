import { expect, test } from 'vitest'
import { manualTiming } from '../../testing/manual-timing.ts'
import { FloodGate } from './flood.ts'
import { ConnectionFault, ERROR } from './wire-format.ts'

const passes = (gate: FloodGate, most = 1_000_000): number => {
  for (let count = 0; count < most; count++) {
    try {
      gate.pass()
    } catch (error) {
      expect(error).toBeInstanceOf(ConnectionFault)
      expect(error).toMatchObject({ code: ERROR.enhanceYourCalm, flood: 'pings' })
      return count
    }
  }
  return most
}

test('a flood gate passes exactly its burst', () => {
  const timing = manualTiming()
  expect(passes(new FloodGate('pings', { burst: 100, perSecond: 10 }, timing.now))).toBe(100)
})

test('after the burst, frames pass at the configured rate', () => {
  const timing = manualTiming()
  const gate = new FloodGate('pings', { burst: 100, perSecond: 10 }, timing.now)
  timing.advance(3_600_000)
  // The gate reads the clock only when it is empty: a long pause is worth at most two bursts.
  expect(passes(gate)).toBe(200)
  timing.advance(1000)
  expect(passes(gate)).toBe(10)
  timing.advance(150)
  expect(passes(gate)).toBe(1)
  timing.advance(50)
  expect(passes(gate)).toBe(1)
})

test('a steady rate below the limit always passes', () => {
  const timing = manualTiming()
  const gate = new FloodGate('pings', { burst: 5, perSecond: 10 }, timing.now)
  for (let i = 0; i < 10_000; i++) {
    timing.advance(101)
    gate.pass()
  }
})

test('a steady rate above the limit fails with ENHANCE_YOUR_CALM after the burst is used up', () => {
  const timing = manualTiming()
  const gate = new FloodGate('pings', { burst: 50, perSecond: 10 }, timing.now)
  let passed = 0
  const flood = () => {
    for (; passed < 10_000; passed++) {
      timing.advance(90)
      gate.pass()
    }
  }
  expect(flood).toThrow(ConnectionFault)
  expect(passed).toBeGreaterThan(400)
})

test('a gate reads the clock once for 1,000 frames within its burst', () => {
  let asked = 0
  const now = () => ++asked
  const gate = new FloodGate('pings', { burst: 1000, perSecond: 1 }, now)
  for (let i = 0; i < 1000; i++) gate.pass()
  expect(asked).toBe(1)
})
