import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Fault, FaultError } from '../base/fault.ts'
import { silentLog } from '../base/log.ts'
import { memoryStore } from '../storage/memory-store.ts'
import { manualClock } from '../testing/manual-clock.ts'
import { reachStore } from './reach-store.ts'

const AWAY: Fault = { kind: 'unavailable', what: 'connection refused' }

/** A worker that queries a store which throws these faults, one per call, then answers. */
function asking(faults: Fault[], signal = new AbortController().signal) {
  const clock = manualClock()
  const seen = { calls: 0, warnings: [] as string[] }
  const store = {
    ...memoryStore(),
    missing() {
      seen.calls++
      const fault = faults.shift()
      if (fault !== undefined) throw new FaultError(fault)
    },
  }
  const log = { ...silentLog, warn: (_: object, message: string) => void seen.warnings.push(message) }
  const reached = reachStore({ store, storeName: 'http://store', clock, random: () => 1, log }, signal)
  return { clock, seen, reached }
}

test('reachStore retries with growing pauses until the store answers, and logs the wait once', async () => {
  const { clock, seen, reached } = asking([AWAY, AWAY, AWAY])
  for (const pauseMs of [100, 200, 400]) {
    await nextTurn()
    const { calls } = seen
    clock.advance(pauseMs - 1)
    await nextTurn()
    expect(seen.calls).toBe(calls)
    clock.advance(1)
  }
  await reached
  expect(seen).toEqual({ calls: 4, warnings: ['waiting for the store of the server'] })
})

test('reachStore throws with the name of the store when the store denies this worker', async () => {
  const { reached } = asking([{ kind: 'denied', what: 'unknown certificate' }])
  await expect(reached).rejects.toThrow('the store at http://store does not serve this worker: unknown certificate')
})

test('reachStore returns while it waits when the worker is stopped', async () => {
  const stopping = new AbortController()
  const { seen, reached } = asking([AWAY, AWAY], stopping.signal)
  await nextTurn()
  stopping.abort()
  await reached
  expect(seen.calls).toBe(1)
})
