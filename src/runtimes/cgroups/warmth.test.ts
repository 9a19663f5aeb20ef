import { expect, test } from 'vitest'
import { manualClock } from '../../testing/manual-clock.ts'
import { Warmth } from './warmth.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('the first caller waits, later callers do not, and after 240 ms without work the next one waits again', async () => {
  const clock = manualClock()
  let moves = 0
  const warmth = new Warmth(async () => void moves++, clock.after)
  const cold = warmth.ready()
  expect(cold).toBeInstanceOf(Promise)
  await cold
  expect([moves, warmth.ready()]).toEqual([1, undefined])
  for (let i = 0; i < 10; i++) {
    clock.advance(6)
    await turn()
  }
  expect([moves, warmth.ready()]).toEqual([11, undefined])
  for (let i = 0; i < 60; i++) {
    clock.advance(6)
    await turn()
  }
  expect(clock.pending()).toBe(0)
  const before = moves
  expect(warmth.ready()).toBeInstanceOf(Promise)
  expect(moves).toBe(before + 1)
})

test('announced, it is warm when it is wanted', async () => {
  const warmth = new Warmth(async () => {}, manualClock().after)
  warmth.expect()
  await turn()
  expect(warmth.ready()).toBeUndefined()
})

test('three callers at once cause one move', async () => {
  let moves = 0
  const warmth = new Warmth(async () => void moves++, manualClock().after)
  await Promise.all([warmth.ready(), warmth.ready(), warmth.ready()])
  expect(moves).toBe(1)
})
