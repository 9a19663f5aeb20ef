import { expect, test } from 'vitest'
import { randomFrom } from '../../testing/random-source.ts'
import { linux, type Story, story, windows } from './story.fixture.ts'

const one = { limitsOf: { mine: { reserved: 1 } } }
const running = (grid: Story): string[] =>
  [...grid.shown].filter(([, { text }]) => text.startsWith('assigned')).map(([name]) => name)

test('a reserved slot stays free for its instance, even if other instances have queued tasks', () => {
  const grid = story(one).worker('w1', linux, { slots: 3 })
  for (let i = 1; i <= 5; i++) grid.submits(`flood${i}`, { instance: 'flood' })
  expect(running(grid)).toEqual(['flood1', 'flood2'])
  grid.submits('mine1', { instance: 'mine' })
  expect(running(grid)).toEqual(['flood1', 'flood2', 'mine1'])
  grid.finishes('mine1')
  expect(running(grid), 'it is kept again').toEqual(['flood1', 'flood2'])
  grid.finishes('flood1')
  expect(running(grid)).toEqual(['flood2', 'flood3'])
})

test('an instance that uses its reserved slots shares the others fairly', () => {
  const grid = story(one).worker('w1', linux, { slots: 3 })
  for (let i = 1; i <= 4; i++) grid.submits(`mine${i}`, { instance: 'mine' })
  for (let i = 1; i <= 4; i++) grid.submits(`flood${i}`, { instance: 'flood' })
  expect(running(grid)).toEqual(['mine1', 'mine2', 'mine3'])
  grid.finishes('mine1')
  expect(running(grid)).toEqual(['mine2', 'mine3', 'flood1'])
})

test('a reserved slot serves other instances once its instance uses another slot', () => {
  const grid = story(one).worker('l', linux).worker('w', windows)
  grid.submits('flood1', { instance: 'flood', needs: windows })
  for (const i of [2, 3]) grid.submits(`flood${i}`, { instance: 'flood', needs: linux })
  expect(running(grid), 'one is kept').toEqual(['flood1'])
  grid.submits('mine1', { instance: 'mine', needs: windows }).finishes('flood1')
  expect(running(grid).sort()).toEqual(['flood2', 'mine1'])
})

test('a staged task of another instance does not start in a reserved slot', () => {
  const grid = story(one).worker('w1', linux, { slots: 2, prefetch: 2 })
  for (let i = 1; i <= 4; i++) grid.submits(`flood${i}`, { instance: 'flood' })
  grid.submits('mine1', { instance: 'mine' })
  grid.finishes('mine1').submits('mine2', { instance: 'mine' })
  expect(grid.log.filter(({ kind }) => kind === 'leased').at(-1)).toMatchObject({ task: 'mine2', prefetch: false })
})

interface Replay {
  readonly slots: number
  readonly flood: number
  readonly reserved: number
}

const TASKS = 2000

/** Tasks of `mine` arrive at random and use 60 % of one slot; a flood fills the other slots. Returns the wait times of `mine`. */
function waits(seed: number, { slots, flood, reserved }: Replay): number[] {
  const { below } = randomFrom(seed)
  const chance = (mean: number): number => Math.max(1, Math.round(-mean * Math.log(1 - below(1e6) / 1e6)))
  const grid = story({ limitsOf: { mine: { reserved } } }).worker('w1', linux, { slots })
  const arrivals: { at: number; runsMs: number }[] = []
  for (let at = 0; arrivals.length < TASKS; at += chance(500)) arrivals.push({ at, runsMs: chance(300) })
  const ends: { at: number; task: string }[] = []
  const waited: number[] = []
  let [told, next, floods] = [0, 0, 0]
  const hear = (): void => {
    for (const effect of grid.log.slice(told)) {
      if (effect.kind !== 'leased') continue
      const number = effect.task.startsWith('mine') ? Number(effect.task.slice(4)) : undefined
      const mine = number === undefined ? undefined : arrivals[number]
      if (mine !== undefined) waited.push(grid.now - mine.at)
      ends.push({ at: grid.now + (mine?.runsMs ?? chance(300)), task: effect.task })
    }
    told = grid.log.length
    ends.sort((a, b) => a.at - b.at)
  }
  const pour = (): void => void grid.submits(`flood${++floods}`, { instance: 'flood' })
  for (let i = 0; i < flood; i++) pour()
  hear()
  while (waited.length < TASKS) {
    const [end] = ends
    const arrival = arrivals[next]
    if (arrival !== undefined && (end === undefined || arrival.at <= end.at)) {
      grid.now = arrival.at
      grid.submits(`mine${next++}`, { instance: 'mine' })
    } else if (end !== undefined) {
      ends.shift()
      grid.now = end.at
      grid.happens({ kind: 'heartbeat', worker: 'w1' }).finishes(end.task)
      if (end.task.startsWith('flood')) pour()
    }
    hear()
  }
  return waited.sort((a, b) => a - b)
}

const p99 = (sorted: readonly number[]): number => sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN

test.each([1, 2, 3])(
  'with one reserved slot, a flood of other tasks delays an instance by less than a tenth (seed %d)',
  (seed) => {
    const alone = p99(waits(seed, { slots: 1, flood: 0, reserved: 0 }))
    const flooded = p99(waits(seed, { slots: 4, flood: 100, reserved: 1 }))
    expect(alone).toBeGreaterThan(100)
    expect(flooded).toBeLessThan(1.1 * alone)
  },
)

test('an instance with a reserved slot and one task at a time never waits', () => {
  const grid = story(one).worker('w1', linux, { slots: 4 })
  for (let i = 1; i <= 100; i++) grid.submits(`flood${i}`, { instance: 'flood' })
  for (let i = 1; i <= 20; i++) {
    grid.now += 500
    expect(running(grid.submits(`mine${i}`, { instance: 'mine' }))).toContain(`mine${i}`)
    grid.finishes(`mine${i}`)
  }
})

test('without a reservation, an idle instance gets the next slot that becomes free', () => {
  const grid = story().worker('w1', linux, { slots: 4 })
  for (let i = 1; i <= 100; i++) grid.submits(`flood${i}`, { instance: 'flood' })
  grid.now += 10
  grid.submits('mine1', { instance: 'mine' }).finishes('flood1')
  expect(running(grid)).toContain('mine1')
})
