import { expect, test } from 'vitest'
import { type Fault, FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { type BlobTarget, outputInMemory } from './blob-target.ts'
import { storeAtLast } from './persistent-store.ts'

const bytes = Buffer.from('made')
const blobs = [outputInMemory(digestOf('sha256', bytes), bytes)]

/** A store that fails this many times, then succeeds. */
function failing(times: number, fault: Fault) {
  const clock = manualClock()
  let tries = 0
  const target: BlobTarget = {
    async store() {
      if (++tries <= times) throw new FaultError(fault)
    },
  }
  const abort = new AbortController()
  const stored = storeAtLast(blobs, { target, clock }, abort.signal)
  stored.catch(() => {})
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 1000) {
      for (let i = 0; i < 5; i++) await Promise.resolve()
      clock.advance(Math.min(1000, left))
    }
    for (let i = 0; i < 5; i++) await Promise.resolve()
  }
  return { stored, pass, tries: () => tries, abort, clock }
}

test('storing is retried while the store is unavailable', async () => {
  for (const kind of ['unavailable', 'late'] as const) {
    const { stored, pass, tries } = failing(5, { kind, what: 'no connection' })
    await pass(30_000)
    await stored
    expect(tries()).toBe(6)
  }
})

test('storing ends when the attempt is aborted', async () => {
  const { stored, pass, abort, clock } = failing(1000, { kind: 'unavailable', what: 'no connection' })
  await pass(5000)
  abort.abort()
  await expect(stored).rejects.toThrow('aborted')
  expect(clock.pending()).toBe(0)
})

test('storing fails after 10 min of retries', async () => {
  const { stored, pass } = failing(1000, { kind: 'unavailable', what: 'no connection' })
  await pass(11 * 60_000)
  await expect(stored).rejects.toThrow('no connection')
})

test('an exhausted store is not retried', async () => {
  const { stored, tries } = failing(1, { kind: 'exhausted', resource: 'disk', retryAfterMs: 1000 })
  await expect(stored).rejects.toThrow('exhausted')
  expect(tries()).toBe(1)
})
