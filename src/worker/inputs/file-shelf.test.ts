import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FileShelf } from './file-shelf.ts'

/** A failed property prints its seed; WINDLASS_SEED runs that one again. */
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 300, ...(seed === undefined ? {} : { seed: Number(seed) }) })

test('the least recently used goes first, and what is held never', () => {
  const gone: string[] = []
  const shelf = new FileShelf(30, (key) => gone.push(key))
  for (const key of ['a', 'b', 'c']) shelf.add(key, 10)
  shelf.hold('a')
  shelf.hold('b')
  shelf.release('b')
  shelf.add('d', 10)
  expect(gone).toEqual(['c'])
  shelf.add('e', 20)
  expect(gone).toEqual(['c', 'b', 'd'])
  expect([shelf.has('a'), shelf.bytes]).toEqual([true, 30])
  shelf.add('f', 10)
  expect(gone.slice(3)).toEqual(['e'])
  shelf.release('a')
})

test('what was held before it came stays when it comes, even if it is more than fits', () => {
  const gone: string[] = []
  const shelf = new FileShelf(5, (key) => gone.push(key))
  shelf.hold('big')
  shelf.add('big', 10)
  expect(gone).toEqual([])
  shelf.release('big')
  expect(gone).toEqual(['big'])
})

test('whatever happens, the sum is right, and nothing is evicted that somebody holds', () => {
  const anyStep = fc.record({
    kind: fc.constantFrom('add' as const, 'hold' as const, 'release' as const),
    key: fc.nat(9),
    size: fc.nat(40),
  })
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 100 }), (given) => {
      const held = new Map<string, number>()
      const there = new Map<string, number>()
      const shelf = new FileShelf(100, (key) => {
        expect(holders(key)).toBe(0)
        expect(there.delete(key)).toBe(true)
      })
      const holders = (key: string): number => held.get(key) ?? 0
      const steps = {
        add(key: string, size: number) {
          if (!there.has(key)) there.set(key, size)
          shelf.add(key, size)
        },
        hold(key: string) {
          held.set(key, holders(key) + 1)
          shelf.hold(key)
        },
        release(key: string) {
          if (holders(key) === 0) return
          held.set(key, holders(key) - 1)
          shelf.release(key)
        },
      }
      for (const { kind, key, size } of given) {
        steps[kind](`k${key}`, size)
        expect(shelf.bytes).toBe([...there.values()].reduce((sum, each) => sum + each, 0))
        const loose = [...there].filter(([each]) => (held.get(each) ?? 0) === 0)
        if (shelf.bytes > 100) expect(loose).toEqual([])
      }
    }),
  )
})
