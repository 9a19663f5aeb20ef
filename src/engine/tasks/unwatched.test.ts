import { expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import type { Operation } from './live-task.ts'
import { Unwatched } from './task-registry.ts'

const seed = seedOfRun()

const namesIn = ({ oldest }: Unwatched): string[] => {
  const names: string[] = []
  for (let one = oldest; one !== undefined; one = one.unwatchedAfter) names.push(one.name)
  return names
}

test(`Unwatched keeps operations in the order of insertion (WINDLASS_SEED=${seed})`, () => {
  const random = randomFrom(seed)
  const operations = Array.from({ length: 12 }, (_, i) => ({ name: `o${i}` }) as Operation)
  const [unwatched, expected] = [new Unwatched(), new Set<string>()]
  for (let step = 0; step < 2000; step++) {
    const one = operations[random.below(operations.length)] as Operation
    if (one.unwatchedAt === undefined && random.chance(0.5)) {
      unwatched.add(one, step)
      expected.add(one.name)
    } else {
      unwatched.delete(one)
      expected.delete(one.name)
    }
    expect(namesIn(unwatched)).toEqual([...expected])
  }
})

test('a deleted operation has no links', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name }) as Operation) as [Operation, Operation, Operation]
  const unwatched = new Unwatched()
  for (const one of [a, b, c]) unwatched.add(one, 1)
  unwatched.delete(b)
  unwatched.delete(b)
  expect([b.unwatchedAt, b.unwatchedBefore, b.unwatchedAfter]).toEqual([undefined, undefined, undefined])
  expect(namesIn(unwatched)).toEqual(['a', 'c'])
})
