import { describe, expect, test } from 'vitest'
import { manualClock } from '../../testing/manual-clock.ts'
import type { ActionCache } from '../action-cache.ts'
import { actionCacheContract } from '../action-cache-contract.ts'
import { memoryActionCache } from '../memory-action-cache.ts'
import { guardedUpstream, silentUpstream, type WhenDown } from './outage.ts'
import { readThroughActions } from './read-through-actions.ts'

interface Setting {
  readonly local?: ActionCache
  readonly upstream?: ActionCache
  readonly writeThrough?: boolean
  readonly whenDown?: WhenDown
  readonly notKept?: (error: unknown) => void
}

function through(setting: Setting = {}): ActionCache {
  const { local = memoryActionCache(), upstream = memoryActionCache(), writeThrough = false } = setting
  const events = { ...silentUpstream, ...(setting.notKept && { notKept: setting.notKept }) }
  const asked = guardedUpstream({ clock: manualClock(), events, whenDown: setting.whenDown ?? 'absent' })
  return readThroughActions({ upstream, asking: asked, events, writeThrough })(local)
}

const fail = () => Promise.reject(new Error('no such host'))
const down: ActionCache = { get: fail, put: fail }
const action = { fn: 'sha256', hash: 'ab'.repeat(32), size: 142 } as const
const result = Uint8Array.from(Buffer.from('exit 0'))

actionCacheContract('read through an empty upstream', () => through())
actionCacheContract('read through, and written through', () => through({ writeThrough: true }))
actionCacheContract('read through an upstream that is down', () => through({ upstream: down, writeThrough: true }))

describe('readThroughActions, result only in the upstream', () => {
  test('is returned, and stored locally', async () => {
    const upstream = memoryActionCache()
    const local = memoryActionCache()
    await upstream.put('main', action, result)
    expect(await through({ local, upstream }).get('main', action)).toEqual(result)
    expect(await local.get('main', action)).toEqual(result)
    expect(await through({ local, upstream: down }).get('main', action)).toEqual(result)
  })

  test('is returned when it cannot be stored locally', async () => {
    const upstream = memoryActionCache()
    await upstream.put('main', action, result)
    const told: unknown[] = []
    const full: ActionCache = { get: async () => undefined, put: fail }
    const cache = through({ local: full, upstream, notKept: (error) => told.push(error) })
    expect(await cache.get('main', action)).toEqual(result)
    expect(told).toHaveLength(1)
  })

  test('is a cache miss while the upstream is down, or a fault with whenDown "unavailable"', async () => {
    expect(await through({ upstream: down }).get('main', action)).toBeUndefined()
    await expect(through({ upstream: down, whenDown: 'unavailable' }).get('main', action)).rejects.toThrow(
      'no such host',
    )
  })
})

test('readThroughActions puts results into the upstream only with writeThrough', async () => {
  const upstream = memoryActionCache()
  await through({ upstream }).put('main', action, result)
  expect(await upstream.get('main', action)).toBeUndefined()
  await through({ upstream, writeThrough: true }).put('main', action, result)
  expect(await upstream.get('main', action)).toEqual(result)
})

test('readThroughActions never sends an action without a size to the upstream', async () => {
  const upstream: ActionCache = {
    get: () => Promise.reject(new Error('asked')),
    put: () => Promise.reject(new Error('told')),
  }
  const cache = through({ upstream, writeThrough: true, whenDown: 'unavailable' })
  const { size: _, ...name } = action
  expect(await cache.get('main', name)).toBeUndefined()
  await cache.put('main', name, result)
  expect(await cache.get('main', name)).toEqual(result)
})
