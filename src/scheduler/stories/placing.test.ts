import { expect, test } from 'vitest'
import { STRATEGIES, type Strategy } from '../model/options.ts'
import { linux, type Story, story } from './story.fixture.ts'

/** Four workers with four slots each, and this number of tasks. */
function placed(strategy: Strategy, tasks: number): { grid: Story; loads: number[] } {
  const grid = story({ strategy })
  const workers = ['w1', 'w2', 'w3', 'w4']
  for (const worker of workers) grid.worker(worker, linux, { slots: 4 })
  for (let i = 0; i < tasks; i++) grid.submits(`t${i}`)
  const loads = workers.map(
    (worker) => [...grid.shown.values()].filter(({ text }) => text.includes(`to ${worker} `)).length,
  )
  return { grid, loads }
}

for (const strategy of STRATEGIES) {
  test(`${strategy} fills every slot, and none twice`, () => {
    expect(placed(strategy, 20).loads).toEqual([4, 4, 4, 4])
  })
}

test('round-robin alternates between the workers', () => {
  expect(placed('round-robin', 4).loads).toEqual([1, 1, 1, 1])
  expect(placed('round-robin', 8).loads).toEqual([2, 2, 2, 2])
})

test('least-loaded and weighted spread tasks evenly', () => {
  expect(placed('least-loaded', 8).loads).toEqual([2, 2, 2, 2])
  expect(placed('weighted', 8).loads).toEqual([2, 2, 2, 2])
})

test('random and two-choices use more than one worker', () => {
  for (const strategy of ['random', 'two-choices'] as const)
    expect(placed(strategy, 8).loads.filter((load) => load > 0).length).toBeGreaterThan(1)
})

test('weighted prefers the worker with the lower latency', () => {
  const grid = story({ strategy: 'weighted' }).worker('slow', linux).worker('quick', linux)
  for (const task of ['a', 'b']) grid.submits(task)
  const [quick, slow] = grid.holder('a') === 'quick' ? ['a', 'b'] : ['b', 'a']
  grid.starts(quick).after('5s').starts(slow).finishes('a').finishes('b')
  expect(grid.submits('next')).toShow('next  assigned to quick')
})

test('a task goes to the worker that has its inputs', () => {
  const grid = story({ strategy: 'round-robin' }).worker('w1', linux, { slots: 2 }).worker('w2', linux, { slots: 2 })
  grid
    .submits('a', { affinity: ['tree'] })
    .finishes('a')
    .submits('other')
    .finishes('other')
  const { worker } = grid.attempt('a')
  for (const task of ['b', 'c', 'd']) {
    expect(grid.submits(task, { affinity: ['tree'] })).toShow(`${task}  assigned to ${worker}`)
    grid.finishes(task)
  }
})

test("affinity does not apply when the load of that worker exceeds another's by more than affinityLoadSlack", () => {
  const grid = story({ strategy: 'least-loaded', affinityLoadSlack: 0.5 })
  grid
    .worker('w1', linux, { slots: 4 })
    .submits('a', { affinity: ['tree'] })
    .worker('w2', linux, { slots: 4 })
  grid.submits('b', { affinity: ['tree'] })
  expect(grid, 'half full is still well').toShow('b  assigned to w1')
  expect(grid.submits('c', { affinity: ['tree'] })).toShow('c  assigned to w1')
  expect(grid.submits('d', { affinity: ['tree'] })).toShow('d  assigned to w2')
})

test('a free slot prefers, among the next few tasks, one whose inputs its worker has', () => {
  const grid = story()
    .worker('w1', linux)
    .submits('a', { affinity: ['tree'] })
  grid.submits('b', { affinity: ['other'] }).submits('c', { affinity: ['tree'] })
  expect(grid.finishes('a')).toShow(`c  assigned to w1
                                     b  queued`)
})

test('the first task is passed over at most 9 times by tasks with affinity', () => {
  const grid = story()
    .worker('w1', linux)
    .submits('t0', { affinity: ['tree'] })
    .submits('cold', { affinity: ['other'] })
  let passed = 0
  for (; grid.holder('cold') === undefined && passed < 50; passed++) {
    grid.submits(`t${passed + 1}`, { affinity: ['tree'] }).finishes(`t${passed}`)
  }
  expect(passed).toBeLessThanOrEqual(9)
})

test('a worker with 4 grid faults is degraded, gets half as many tasks, and recovers within 3 minutes', () => {
  const grid = story({
    retry: { maxRetries: 99, maxLostWorkers: 3, firstDelayMs: 1, maxDelayMs: 1, onTimeout: false, onFailure: false },
  })
  grid.worker('w1', linux, { slots: 4 }).beats('w1').submits('unlucky')
  for (let i = 0; i < 4; i++) grid.fails('unlucky').after('1ms')
  expect(grid).toShow('w1  DEGRADED')
  for (const task of ['a', 'b', 'c']) grid.submits(task)
  expect(grid, 'half of its slots').toShow(`a  assigned to w1
                                            b  queued`)
  expect(grid.after('3m')).toShow(`w1  BUSY
                                   b   assigned to w1`)
})

test('failing commands do not degrade a worker', () => {
  const grid = story().worker('w1', linux)
  for (let i = 0; i < 50; i++) grid.submits(`t${i}`).finishes(`t${i}`, { kind: 'result', succeeded: false })
  expect(grid).toShow('w1  ONLINE')
})

test('a worker that reports a high load is degraded until the load falls', () => {
  const grid = story().worker('w1', linux).happens({ kind: 'heartbeat', worker: 'w1', load: 1 })
  expect(grid).toShow('w1  DEGRADED')
  expect(grid.happens({ kind: 'heartbeat', worker: 'w1', load: 0.95 }), 'not yet').toShow('w1  DEGRADED')
  expect(grid.happens({ kind: 'heartbeat', worker: 'w1', load: 0.5 })).toShow('w1  ONLINE')
})

test('without degradeByLoad, a reported load does not degrade a worker', () => {
  const grid = story({ degradeByLoad: false }).worker('w1', linux)
  expect(grid.happens({ kind: 'heartbeat', worker: 'w1', load: 1 })).toShow('w1  ONLINE')
})

test('without degradeByLoad, grid faults still degrade a worker', () => {
  const grid = story({ degradeByLoad: false }).worker('w1', linux)
  for (const task of ['a', 'b', 'c']) grid.submits(task).fails(task)
  expect(grid).toShow('w1  DEGRADED')
})

test('a worker without heartbeats is degraded after 60 s and lost after 120 s', () => {
  const grid = story().worker('w1', linux)
  expect(grid.after('61s')).toShow('w1  DEGRADED')
  expect(grid.happens({ kind: 'heartbeat', worker: 'w1' })).toShow('w1  ONLINE')
  expect(grid.after('121s')).toShow('w1  gone')
})

test('a healthy worker is preferred to a degraded one', () => {
  const grid = story().worker('w1', linux, { slots: 4 }).worker('w2', linux, { slots: 1 })
  grid.happens({ kind: 'heartbeat', worker: 'w1', load: 1 })
  expect(grid.submits('a')).toShow('a  assigned to w2')
})
