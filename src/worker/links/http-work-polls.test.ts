import { expect, test } from 'vitest'
import { manualClock } from '../../testing/manual-clock.ts'
import type { LeaseMessage } from '../../wire/workers/lease-stream.ts'
import { backoff } from './backoff.ts'
import { workPolls } from './http-work-polls.ts'

interface Asked {
  readonly most: number
  readonly signal: AbortSignal
  answer(...ids: readonly string[]): Promise<void>
  fail(): Promise<void>
}

const leaseOf = (attemptId: string) => ({ attemptId }) as LeaseMessage
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function open(slots: number) {
  const clock = manualClock()
  const asked: Asked[] = []
  const got: string[] = []
  const failures: unknown[] = []
  const ending = new AbortController()
  const held = new Set<string>()
  const polls = workPolls({
    slots,
    held,
    ask: (most, signal) =>
      new Promise((resolve, reject) => {
        const then = (done: () => void) => () => {
          done()
          return settled()
        }
        asked.push({
          most,
          signal,
          answer: (...ids) => then(() => resolve(ids.map(leaseOf)))(),
          fail: then(() => reject(new Error('gone'))),
        })
      }),
    leases: (leases) => void got.push(...leases.map(({ attemptId }) => attemptId)),
    failed: (error) => void failures.push(error),
    pauses: backoff(clock, () => 1),
    clock,
    signal: ending.signal,
  })
  const free = (id: string): void => {
    held.delete(id)
    polls.fill()
  }
  return { clock, asked, got, failures, ending, polls, free, sizes: () => asked.map(({ most }) => most) }
}

test('every free slot is covered by exactly one poll', async () => {
  const { asked, got, free, sizes } = open(4)
  expect(sizes()).toEqual([4])
  await asked[0]?.answer('a', 'b')
  expect([got, sizes()]).toEqual([
    ['a', 'b'],
    [4, 2],
  ])
  free('a') // while the poll for two slots is open
  expect(sizes()).toEqual([4, 2, 1])
  await asked[2]?.answer('c')
  expect(sizes()).toEqual([4, 2, 1])
  await asked[1]?.answer('d', 'e')
  expect(sizes()).toEqual([4, 2, 1])
  free('nobody knows it')
  expect(sizes()).toEqual([4, 2, 1])
})

test('a failed poll is repeated after a pause that grows', async () => {
  const { asked, clock, failures, sizes } = open(2)
  await asked[0]?.fail()
  expect([failures.length, sizes()]).toEqual([1, [2]])
  clock.advance(100)
  await settled()
  await asked[1]?.fail()
  clock.advance(100)
  await settled()
  expect(sizes()).toEqual([2, 2])
  clock.advance(100)
  await settled()
  expect(sizes()).toEqual([2, 2, 2])
})

test('a poll answered early without leases is repeated only after a pause', async () => {
  const { asked, clock, sizes } = open(1)
  await asked[0]?.answer()
  expect(sizes()).toEqual([1])
  clock.advance(100)
  await settled()
  clock.advance(1000)
  await asked[1]?.answer() // this poll was held for 1 s
  expect(sizes()).toEqual([1, 1, 1])
})

test('a quiet worker aborts its poll, polls no more, and still accepts leases that were already sent', async () => {
  const { asked, polls, got, free, sizes } = open(2)
  polls.quiet()
  expect(asked[0]?.signal.aborted).toBe(true)
  await asked[0]?.answer('a')
  expect(got).toEqual(['a'])
  free('a')
  expect(sizes()).toEqual([2])
})
