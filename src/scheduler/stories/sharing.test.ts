import { expect, test } from 'vitest'
import { linux, type Story, story } from './story.fixture.ts'

/** Runs the queue on one worker, one second per task, and returns the order. */
function order(grid: Story, tasks: number): string {
  const seen: string[] = []
  for (let i = 0; i < tasks; i++) {
    const next = [...grid.shown].find(([, { text }]) => text.startsWith('assigned'))?.[0]
    if (next === undefined) break
    seen.push(next)
    grid.now += 1000
    grid.finishes(next)
  }
  return seen.join(' ')
}

test('instances share the workers equally, independent of how many tasks each has queued', () => {
  const grid = story()
  for (const i of [1, 2, 3, 4]) grid.submits(`big${i}`, { instance: 'big' })
  for (const i of [1, 2]) grid.submits(`small${i}`, { instance: 'small' })
  expect(order(grid.worker('w1', linux), 6)).toBe('big1 small1 big2 small2 big3 big4')
})

test('an instance with weight 2 gets twice the slot time of an instance with weight 1', () => {
  const grid = story({ limitsOf: { gold: { weight: 2 } } })
  for (let i = 1; i <= 6; i++) grid.submits(`g${i}`, { instance: 'gold' }).submits(`s${i}`, { instance: 'silver' })
  const seen = order(grid.worker('w1', linux), 9)
  expect(seen.match(/g/g)).toHaveLength(6)
  expect(seen.match(/s/g)).toHaveLength(3)
})

test('shares count across requirement groups', () => {
  const grid = story()
  for (const i of [1, 2, 3]) grid.submits(`a${i}`, { instance: 'a', needs: i === 2 ? linux : {} })
  for (const i of [1, 2, 3]) grid.submits(`b${i}`, { instance: 'b', needs: i === 2 ? {} : linux })
  expect(order(grid.worker('w1', linux), 6)).toMatch(/^(a\d b\d |b\d a\d ){2}(a\d b\d|b\d a\d)$/)
})

test('shares count slot time, not tasks', () => {
  const grid = story().beats('w1')
  for (let i = 1; i <= 3; i++) grid.submits(`long${i}`, { instance: 'long' })
  for (let i = 1; i <= 9; i++) grid.submits(`brief${i}`, { instance: 'brief' })
  grid.worker('w1', linux)
  const served = { long: 0, brief: 0 }
  for (let i = 0; i < 12 && grid.now < 12_000; i++) {
    const [next] = [...grid.shown].find(([, { text }]) => text.startsWith('assigned')) ?? ['']
    const kind = next.startsWith('long') ? 'long' : 'brief'
    grid.now += kind === 'long' ? 3000 : 1000
    served[kind] += kind === 'long' ? 3000 : 1000
    grid.finishes(next)
  }
  expect(Math.abs(served.long - served.brief)).toBeLessThanOrEqual(3000)
})

test('an idle instance does not accumulate unused share', () => {
  const grid = story().worker('w1', linux).submits('late0', { instance: 'late' }).finishes('late0')
  for (let i = 0; i < 20; i++) grid.submits(`x${i}`, { instance: 'x' })
  for (let i = 0; i < 10; i++) {
    grid.now += 1000
    grid.finishes(`x${i}`)
  }
  for (let i = 1; i <= 3; i++) grid.submits(`late${i}`, { instance: 'late' })
  expect(order(grid, 6).split(' ').slice(0, 4), 'it does not get three in a row').toContain('x11')
})

test('invocations of an instance share its slots equally', () => {
  const grid = story()
  for (const i of [1, 2, 3]) grid.submits(`ci${i}`, { invocation: 'ci' })
  for (const i of [1, 2]) grid.submits(`dev${i}`, { invocation: 'dev' })
  expect(order(grid.worker('w1', linux), 5)).toBe('ci1 dev1 ci2 dev2 ci3')
})

test('a lower priority value is served first within the instance', () => {
  const grid = story().submits('later', { priority: 2 }).submits('sooner', { priority: -1 }).submits('middle')
  expect(order(grid.worker('w1', linux), 3)).toBe('sooner middle later')
})

test('a priority has no effect on other instances', () => {
  const grid = story()
  for (const i of [1, 2]) grid.submits(`modest${i}`, { instance: 'modest', priority: 50 })
  for (const i of [1, 2]) grid.submits(`pushy${i}`, { instance: 'pushy', priority: -100 })
  expect(order(grid.worker('w1', linux), 4)).toBe('modest1 pushy1 modest2 pushy2')
})

test('a task that has waited for agingMs goes before a newer, more urgent one', () => {
  const grid = story({ agingMs: 10_000, noWorkerGraceMs: 1e9 }).submits('old', { priority: 2 }).after('21s')
  grid.submits('new', { priority: 0 })
  expect(order(grid.worker('w1', linux), 2)).toBe('old new')
})

test('a task that has waited less than agingMs goes after a more urgent one', () => {
  const grid = story({ agingMs: 10_000, noWorkerGraceMs: 1e9 }).submits('old', { priority: 2 }).after('19s')
  grid.submits('new', { priority: 0 })
  expect(order(grid.worker('w1', linux), 2)).toBe('new old')
})

test('a stream of urgent tasks does not starve the other tasks of its instance', () => {
  const grid = story({ agingMs: 10_000 }).worker('w1', linux).submits('u0').submits('patient', { priority: 3 })
  let waited = 0
  for (; grid.holder('patient') === undefined && waited < 100; waited++) {
    grid.submits(`u${waited + 1}`)
    grid.now += 1000
    grid.finishes(`u${waited}`)
  }
  expect(waited).toBeLessThanOrEqual(32)
})
