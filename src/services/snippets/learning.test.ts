import { expect, test } from 'vitest'
import type { WorkerView } from '../../engine/workers/worker-session.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { codeDurations } from './durations.ts'
import { liveOffers } from './live-offers.ts'

test('the estimate follows recent run times, and ignores invalid ones', () => {
  const learned = codeDurations()
  expect(learned.estimateMs('c', 'x')).toBeUndefined()
  learned.learn('c', 'x', 1000)
  expect(learned.estimateMs('c', 'other')).toBe(1000)
  for (let i = 0; i < 50; i++) learned.learn('c', 'x', 100)
  expect(learned.estimateMs('c', 'x')).toBeCloseTo(100, 0)
  learned.learn('c', 'x', Number.NaN)
  learned.learn('c', 'x', -1)
  expect(learned.estimateMs('c', 'x')).toBeCloseTo(100, 0)
})

test('only the most recently run code keeps its own estimate', () => {
  const learned = codeDurations(2)
  for (const code of ['a', 'b', 'a', 'c']) learned.learn('c', code, code === 'b' ? 5000 : 10)
  expect(learned.estimateMs('c', 'b')).not.toBe(5000) // only the estimate of the language is left
  expect(learned.estimateMs('c', 'a')).toBe(10)
})

function view(worker: string, state: WorkerView['state'], languages: readonly string[]): WorkerView {
  const properties = languages.map((value) => ({ name: 'language', value }))
  return { worker, state, what: '', slots: 1, properties, registeredAt: 0, heardAt: 0, leases: 0 }
}

test('languages are those of live workers, and `only` is set when all workers have the same version', () => {
  const views = [
    view('a', 'BUSY', ['python', 'python@3.11', 'c', 'c@12']),
    view('b', 'DEGRADED', ['python', 'python@3.9', 'c', 'c@12']),
    view('c', 'ONLINE', ['go', 'go@1.2']),
    view('d', 'ONLINE', ['go']),
    view('e', 'OFFLINE', ['rust']),
    view('f', 'DRAINING', ['rust', 'rust@1']),
  ]
  const offers = liveOffers({ list: () => views }, manualClock())
  expect([...offers.all()]).toEqual([
    ['python', { versions: ['3.11', '3.9'], only: undefined }],
    ['c', { versions: ['12'], only: '12' }],
    ['go', { versions: ['1.2'], only: undefined }],
  ])
})

test('the worker list is read again after 250 ms, or after 20 ms for a language that no worker had', () => {
  const clock = manualClock()
  let looks = 0
  let views: WorkerView[] = []
  const offers = liveOffers(
    {
      list() {
        looks++
        return views
      },
    },
    clock,
  )
  for (let i = 0; i < 100; i++) expect(offers.of('c')).toBeUndefined()
  expect(looks).toBe(1)
  views = [view('a', 'ONLINE', ['c'])]
  clock.advance(25)
  for (let i = 0; i < 100; i++) expect(offers.of('c')).toBeDefined()
  expect(looks).toBe(2)
  clock.advance(300)
  offers.of('c')
  expect(looks).toBe(3)
})
