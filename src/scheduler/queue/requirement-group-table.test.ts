import { expect, test } from 'vitest'
import { makeGridState } from '../grid.ts'
import { DEFAULT_OPTIONS } from '../model/options.ts'
import { describeRequirements } from '../model/requirements.ts'
import { groupFor } from './matchmaking.ts'

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

test('what is asked for in another order, or a little more of it, is one lane', () => {
  const grid = made()
  const lane = groupFor(grid, ask('a=1 b=2 b=3', { cpu: 2 }))
  expect(groupFor(grid, ask('b=3 b=2 a=1', { cpu: 3 }))).toBe(lane)
  expect(grid.groups.size).toBe(1)
})

test('whatever differs in names, values, how often they come, size or what it refuses is another lane', () => {
  const grid = made()
  const texts = ['', 'a=1', 'a=', '=a1', 'a1=', '1=a', 'a=1 a=1', 'a=1 b=', 'a=1b =']
  const asks = [...texts.map((text) => ask(text)), ask('', { cpu: 2 }), ask('', { refusesPreemptible: true })]
  const lanes = asks.map((one) => groupFor(grid, one))
  expect(new Set(lanes).size).toBe(asks.length)
  expect(asks.every((one, i) => groupFor(grid, one) === lanes[i])).toBe(true)
})

test('of ten thousand lanes the one that was taken out is not found, and all others are', () => {
  const grid = made()
  const lanes = Array.from({ length: 10_000 }, (_, i) => groupFor(grid, ask(`image=${i}`)))
  const gone = lanes.filter((_, i) => i % 7 === 3)
  for (const lane of gone) grid.groups.delete(lane)
  expect(grid.groups.size).toBe(10_000 - gone.length)
  expect(lanes.filter((lane) => grid.groups.get(lane) === undefined)).toEqual(gone)
  expect(new Set([...grid.groups.values()].map(describeRequirements)).size).toBe(grid.groups.size)
  for (const lane of gone) grid.groups.add(lane)
  expect(lanes.every((lane) => grid.groups.get(lane) === lane)).toBe(true)
})
