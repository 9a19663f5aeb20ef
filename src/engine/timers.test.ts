import { expect, test } from 'vitest'
import { manualClock } from '../testing/manual-clock.ts'
import { namedTimers } from './engine-state.ts'

test('a timer set under a used name replaces the earlier timer', () => {
  const clock = manualClock()
  const timers = namedTimers(clock)
  const fired: string[] = []
  timers.set('tick', 10, () => void fired.push('first'))
  timers.set('tick', 20, () => void fired.push('second'))
  timers.set('repair', 5, () => void fired.push('repair'))
  clock.advance(15)
  expect([fired, timers.has('tick'), timers.has('repair')]).toEqual([['repair'], true, false])
  clock.advance(10)
  expect(fired).toEqual(['repair', 'second'])
})

test('no timer fires after close', () => {
  const clock = manualClock()
  const timers = namedTimers(clock)
  timers.set('tick', 10, () => expect.unreachable())
  timers.close()
  clock.advance(100)
  expect(timers.has('tick')).toBe(false)
})
