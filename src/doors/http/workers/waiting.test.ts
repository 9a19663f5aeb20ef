import { expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { waitTime } from './wait-time.ts'
import { wakeUp } from './wake-up.ts'

test('a wait time is parsed strictly, and capped at the maximum', () => {
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

/** Whether the promise has resolved by now. */
async function isOver(waiting: Promise<void>): Promise<boolean> {
  const still = {}
  return (await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve, still))])) !== still
}

test('a waiting request ends at a notification, at the end of its time, and at a disconnect', async () => {
  const clock = manualClock()
  const { notify, wait } = wakeUp(clock)
  const byNews = wait(0, 1000, [NEVER])
  expect(await isOver(byNews)).toBe(false)
  notify()
  expect(await isOver(byNews)).toBe(true)
  expect(await isOver(wait(0, 1000, [NEVER]))).toBe(true) // a notification was missed
  const byTime = wait(1, 1000, [NEVER])
  expect(await isOver(byTime)).toBe(false)
  clock.advance(1000)
  expect(await isOver(byTime)).toBe(true)
  const hangUp = new AbortController()
  const byHangingUp = wait(1, 1000, [NEVER, hangUp.signal])
  hangUp.abort()
  expect(await isOver(byHangingUp)).toBe(true)
})

test('above four waiting requests of one worker, the oldest is answered', async () => {
  const { wait } = wakeUp(manualClock())
  const all = Array.from({ length: 10 }, () => wait(0, 1000, [NEVER]))
  expect(await Promise.all(all.map(isOver))).toEqual([...Array(6).fill(true), ...Array(4).fill(false)])
})
