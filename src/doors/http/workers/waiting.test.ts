import { expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { waitTime } from './wait-time.ts'
import { wakeUp } from './wake-up.ts'

test('times are read strictly, and are no longer than they may be', () => {
  for (const [text, ms] of [
    [undefined, 0],
    ['30s', 30_000],
    ['30', 30_000],
    ['250ms', 250],
    ['0.5s', 500],
    ['1m', 60_000],
    ['9999999m', 60_000],
  ] as const)
    expect(waitTime(text, 60_000)).toBe(ms)
  for (const text of ['', 's', '-1s', '1h', '1e3s', ' 1s', '1 s', '0x10', '1s1s', '.5s'])
    expect(() => waitTime(text, 60_000)).toThrow('wait')
})

const NEVER = new AbortController().signal

/** Whether it is over by now. */
async function isOver(waiting: Promise<void>): Promise<boolean> {
  const still = {}
  return (await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve, still))])) !== still
}

test('whoever waits is woken by news, by the end of the time, and by hanging up', async () => {
  const clock = manualClock()
  const { ring, wait } = wakeUp(clock)
  const byNews = wait(0, 1000, [NEVER])
  expect(await isOver(byNews)).toBe(false)
  ring()
  expect(await isOver(byNews)).toBe(true)
  expect(await isOver(wait(0, 1000, [NEVER]))).toBe(true) // it has missed some
  const byTime = wait(1, 1000, [NEVER])
  expect(await isOver(byTime)).toBe(false)
  clock.advance(1000)
  expect(await isOver(byTime)).toBe(true)
  const hangUp = new AbortController()
  const byHangingUp = wait(1, 1000, [NEVER, hangUp.signal])
  hangUp.abort()
  expect(await isOver(byHangingUp)).toBe(true)
})

test('of many who wait for the same worker the first give way', async () => {
  const { wait } = wakeUp(manualClock())
  const all = Array.from({ length: 10 }, () => wait(0, 1000, [NEVER]))
  expect(await Promise.all(all.map(isOver))).toEqual([...Array(6).fill(true), ...Array(4).fill(false)])
})
