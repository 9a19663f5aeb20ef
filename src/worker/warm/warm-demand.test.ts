import { expect, test } from 'vitest'
import { WarmDemand } from './warm-demand.ts'

const kind = (key: string) => ({ key })
const shares = (demand: WarmDemand<{ key: string }>, most: number) =>
  Object.fromEntries([...demand.wanted(most)].map(([key, { count }]) => [key, count]))

test('what is likely is wanted from the start, and what was asked for once is not', () => {
  const demand = new WarmDemand<{ key: string }>()
  demand.seed(kind('python'))
  demand.asked(kind('odd'))
  expect(shares(demand, 4)).toEqual({ python: 4 })
})

test('places go to who is asked for, in proportion', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 90; i++) demand.asked(kind(i % 3 === 0 ? 'javascript' : 'python'))
  expect(shares(demand, 3)).toEqual({ python: 2, javascript: 1 })
})

test('who comes back after others have been asked for much has a place by the second time', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 400; i++) demand.asked(kind('javascript'))
  for (let i = 0; i < 2; i++) demand.asked(kind('python'))
  expect(shares(demand, 4)).toEqual({ javascript: 3, python: 1 })
})

test('of many that are asked for twice none takes the place of who is asked for much', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 200; i++) demand.asked(kind('python'))
  for (let i = 0; i < 8; i++) for (let n = 0; n < 2; n++) demand.asked(kind(`made up ${i}`))
  expect(shares(demand, 8).python).toBe(5)
})

test('who is asked for no more loses its place', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 10; i++) demand.asked(kind('python'))
  for (let i = 0; i < 200; i++) demand.asked(kind('ruby'))
  expect(shares(demand, 4)).toEqual({ ruby: 4 })
})

test('kinds that are made up one after the other take no place, and push out none that is in use', () => {
  const demand = new WarmDemand<{ key: string }>()
  for (let i = 0; i < 3000; i++) demand.asked(kind(i % 10 === 0 ? 'python' : `made up ${i}`))
  expect(shares(demand, 4)).toEqual({ python: 4 })
})

test('what cannot be made ready is wanted no more', () => {
  const demand = new WarmDemand<{ key: string }>()
  demand.seed(kind('python'))
  demand.forget('python')
  expect(shares(demand, 4)).toEqual({})
})
