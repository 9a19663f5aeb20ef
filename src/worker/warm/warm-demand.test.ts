import { expect, test } from 'vitest'
import { WarmDemand } from './warm-demand.ts'

const kind = (key: string) => ({ key })
const shares = (demand: WarmDemand<{ key: string }>, most: number) =>
  Object.fromEntries([...demand.wanted(most)].map(([key, { count }]) => [key, count]))

test('a seeded language is wanted from the start, and one requested once is not', () => {
  const demand = new WarmDemand<{ key: string }>()
  demand.seed(kind('python'))
  demand.asked(kind('odd'))
  expect(shares(demand, 4)).toEqual({ python: 4 })
})

test('places are assigned in proportion to requests', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 90; i++) demand.asked(kind(i % 3 === 0 ? 'javascript' : 'python'))
  expect(shares(demand, 3)).toEqual({ python: 2, javascript: 1 })
})

test('a language requested twice after 400 requests for another has a place', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 400; i++) demand.asked(kind('javascript'))
  for (let i = 0; i < 2; i++) demand.asked(kind('python'))
  expect(shares(demand, 4)).toEqual({ javascript: 3, python: 1 })
})

test('eight languages requested twice each leave 5 of 8 places to one requested 200 times', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 200; i++) demand.asked(kind('python'))
  for (let i = 0; i < 8; i++) for (let n = 0; n < 2; n++) demand.asked(kind(`made up ${i}`))
  expect(shares(demand, 8).python).toBe(5)
})

test('a language that is no longer requested loses its place', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 10; i++) demand.asked(kind('python'))
  for (let i = 0; i < 200; i++) demand.asked(kind('ruby'))
  expect(shares(demand, 4)).toEqual({ ruby: 4 })
})

test('3,000 different kinds take no place from a kind in use', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 3000; i++) demand.asked(kind(i % 10 === 0 ? 'python' : `made up ${i}`))
  expect(shares(demand, 4)).toEqual({ python: 4 })
})

test('a language that cannot be prepared is no longer wanted', () => {
  const demand = new WarmDemand<{ key: string }>()
  demand.seed(kind('python'))
  demand.forget('python')
  expect(shares(demand, 4)).toEqual({})
})
