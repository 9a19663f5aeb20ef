import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CacheEntries } from './cache-entries.ts'

/** A failed property prints its seed; WINDLASS_SEED repeats that run. */
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 300, ...(seed === undefined ? {} : { seed: Number(seed) }) })

test('the least recently used entry is evicted first, and a held entry never', () => {
  const gone: string[] = []
  const entries = new CacheEntries(30, (key) => gone.push(key))
  for (const key of ['a', 'b', 'c']) entries.add(key, 10)
  entries.hold('a')
  entries.hold('b')
  entries.release('b')
  entries.add('d', 10)
  expect(gone).toEqual(['c'])
  entries.add('e', 20)
  expect(gone).toEqual(['c', 'b', 'd'])
  expect([entries.has('a'), entries.bytes]).toEqual([true, 30])
  entries.add('f', 10)
  expect(gone.slice(3)).toEqual(['e'])
  entries.release('a')
})

test('an entry held before it is added is kept until its release, even above the limit', () => {
  const gone: string[] = []
  const entries = new CacheEntries(5, (key) => gone.push(key))
  entries.hold('big')
  entries.add('big', 10)
  expect(gone).toEqual([])
  entries.release('big')
  expect(gone).toEqual(['big'])
})

test('bytes is always the sum of all entries, and a held entry is never evicted', () => {
  const anyStep = fc.record({
    kind: fc.constantFrom('add' as const, 'hold' as const, 'release' as const),
    key: fc.nat(9),
    size: fc.nat(40),
  })
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 100 }), (given) => {
      const held = new Map<string, number>()
      const there = new Map<string, number>()
      const entries = new CacheEntries(100, (key) => {
        expect(holders(key)).toBe(0)
        expect(there.delete(key)).toBe(true)
      })
      const holders = (key: string): number => held.get(key) ?? 0
      const steps = {
        add(key: string, size: number) {
          if (!there.has(key)) there.set(key, size)
          entries.add(key, size)
        },
        hold(key: string) {
          held.set(key, holders(key) + 1)
          entries.hold(key)
        },
        release(key: string) {
          if (holders(key) === 0) return
          held.set(key, holders(key) - 1)
          entries.release(key)
        },
      }
      for (const { kind, key, size } of given) {
        steps[kind](`k${key}`, size)
        expect(entries.bytes).toBe([...there.values()].reduce((sum, each) => sum + each, 0))
        const loose = [...there].filter(([each]) => (held.get(each) ?? 0) === 0)
        if (entries.bytes > 100) expect(loose).toEqual([])
      }
    }),
  )
})
