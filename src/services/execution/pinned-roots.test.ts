import { expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { pinnedRoots } from './pinned-roots.ts'

const digest = (size: number): Digest => ({ fn: 'sha256', hash: '0'.repeat(64), size })

/** The pin count of each digest, by space and size. */
function countingPins() {
  const counts = new Map<string, number>()
  const count = (by: number) => (pinned: Digest, space: number) => {
    const key = `${space}:${pinned.size}`
    const now = (counts.get(key) ?? 0) + by
    if (now === 0) counts.delete(key)
    else counts.set(key, now)
  }
  return { counts, pins: { pin: count(1), unpin: count(-1) } }
}

test('held digests are pinned in every space until they are released', () => {
  const { counts, pins } = countingPins()
  const roots = pinnedRoots(pins as Parameters<typeof pinnedRoots>[0], [0, 3])
  roots.hold('t1', 'inputs', [digest(1), digest(2)])
  roots.hold('t1', 'outputs', [digest(1)])
  expect(Object.fromEntries(counts)).toEqual({ '0:1': 2, '3:1': 2, '0:2': 1, '3:2': 1 })
  roots.release('t1', 'inputs')
  expect(Object.fromEntries(counts)).toEqual({ '0:1': 1, '3:1': 1 })
  roots.release('t1', 'inputs')
  roots.release('t2', 'outputs')
  roots.release('t1', 'outputs')
  expect(counts.size).toBe(0)
})

test('holding again replaces the earlier digests', () => {
  const { counts, pins } = countingPins()
  const roots = pinnedRoots(pins as Parameters<typeof pinnedRoots>[0])
  roots.hold('t1', 'inputs', [digest(1), digest(2)])
  roots.hold('t1', 'inputs', [digest(2), digest(3)])
  expect([...counts.keys()].sort()).toEqual(['0:2', '0:3'])
  roots.release('t1', 'inputs')
  expect(counts.size).toBe(0)
})
