import { expect, test } from 'vitest'
import { byTurns } from './by-turns.ts'

test('at most three run at once, two per host, and the rest when one ends', async () => {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const turns = byTurns<string>({ mostAtOnce: 3, mostPerHost: 2 }, (one) => {
    begun.push(one)
    return new Promise((resolve) => ends.push(resolve))
  })
  for (const one of ['a1', 'a2', 'a3', 'b1', 'b2']) turns.add(one.charAt(0), one)
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  ends[0]?.()
  await Promise.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
  turns.close()
  for (const end of ends) end()
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toHaveLength(4)
})
