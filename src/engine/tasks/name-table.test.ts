import { expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { NameTable } from './task-registry.ts'

const seed = seedOfRun()

test(`NameTable behaves as a Map (WINDLASS_SEED=${seed})`, () => {
  const random = randomFrom(seed)
  const [table, map] = [new NameTable<{ step: number }>(), new Map<string, { step: number }>()]
  for (let step = 0; step < 5000; step++) {
    const name = `n${random.below(60)}`
    if (random.chance(0.5)) {
      table.set(name, { step })
      map.set(name, { step })
    } else {
      table.delete(name)
      map.delete(name)
    }
    const other = `n${random.below(60)}`
    expect([table.get(other), table.has(other), table.size]).toEqual([map.get(other), map.has(other), map.size])
  }
  expect([...table.values()]).toEqual([...map.values()])
})

test('an object deleted during an iteration is not visited', () => {
  const table = new NameTable<string>()
  for (const name of ['a', 'b', 'c']) table.set(name, name)
  const seen: string[] = []
  for (const name of table.values()) {
    seen.push(name)
    table.delete('b')
  }
  expect(seen).toEqual(['a', 'c'])
})
