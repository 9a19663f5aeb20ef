import { expect, test } from 'vitest'
import { makeGridState } from '../grid.ts'
import { DEFAULT_OPTIONS } from '../model/options.ts'
import { describeRequirements } from '../model/requirements.ts'
import { groupFor } from './new-task.ts'

const made = () => makeGridState({ ...DEFAULT_OPTIONS, epoch: 1, random: () => 0.3 })

/** Properties as `name=value name=value`. */
const ask = (properties: string, { cpu = 1, refusesPreemptible = false } = {}) => ({
  properties: properties.split(' ').flatMap((one) => {
    const [name, value] = one.split('=')
    return name === undefined || value === undefined ? [] : [{ name, value }]
  }),
  refusesPreemptible,
  demand: { cpu, memory: 0, disk: 0 },
})

test('requirements in another order, or with slightly larger amounts, are one group', () => {
  const grid = made()
  const group = groupFor(grid, ask('a=1 b=2 b=3', { cpu: 2 }))
  expect(groupFor(grid, ask('b=3 b=2 a=1', { cpu: 3 }))).toBe(group)
  expect(grid.groups.size).toBe(1)
})

test('requirements that differ in names, values, count, size or refusal are different groups', () => {
  const grid = made()
  const texts = ['', 'a=1', 'a=', '=a1', 'a1=', '1=a', 'a=1 a=1', 'a=1 b=', 'a=1b =']
  const asks = [...texts.map((text) => ask(text)), ask('', { cpu: 2 }), ask('', { refusesPreemptible: true })]
  const groups = asks.map((one) => groupFor(grid, one))
  expect(new Set(groups).size).toBe(asks.length)
  expect(asks.every((one, i) => groupFor(grid, one) === groups[i])).toBe(true)
})

test('among ten thousand groups, removed ones are not found and all others are', () => {
  const grid = made()
  const groups = Array.from({ length: 10_000 }, (_, i) => groupFor(grid, ask(`image=${i}`)))
  const gone = groups.filter((_, i) => i % 7 === 3)
  for (const group of gone) grid.groups.delete(group)
  expect(grid.groups.size).toBe(10_000 - gone.length)
  expect(groups.filter((group) => grid.groups.get(group) === undefined)).toEqual(gone)
  expect(new Set([...grid.groups.values()].map(describeRequirements)).size).toBe(grid.groups.size)
  for (const group of gone) grid.groups.add(group)
  expect(groups.every((group) => grid.groups.get(group) === group)).toBe(true)
})
