import { expect, test } from 'vitest'
import { makeGridState } from './grid.ts'
import { DEFAULT_OPTIONS } from './model/options.ts'
import { settleGrid } from './placement/settle-grid.ts'
import { groupFor, instanceNamed } from './queue/new-task.ts'
import { FEWEST_SWEPT } from './queue/queue-state.ts'
import { registerWorker } from './register-worker.ts'
import { submitTask } from './submit-task.ts'
import { dismissWorker } from './worker-events.ts'
import type { Worker } from './workers/records.ts'

const grid = () => makeGridState({ ...DEFAULT_OPTIONS, epoch: 1, random: () => 0 })
const nothing = { cpu: 0, memory: 0, disk: 0 }
const ask = (value: string) => ({ properties: [{ name: 'image', value }], refusesPreemptible: false, demand: nothing })

test('requirement groups without tasks are dropped above FEWEST_SWEPT.groups', () => {
  const state = grid()
  for (let i = 0; i < 2 * FEWEST_SWEPT.groups; i++) {
    groupFor(state, ask(`image-${i}`))
    if (state.groups.size > FEWEST_SWEPT.groups) break
  }
  expect(state.groups.size).toBeLessThanOrEqual(FEWEST_SWEPT.groups)
  expect(state.pools.size).toBeLessThanOrEqual(1)
})

test('a requirement group with a queued task is kept', () => {
  const state = grid()
  const request = { instance: '', invocation: '', priority: 0, demands: {}, properties: ask('kept').properties }
  submitTask(state, { kind: 'submit', task: 'one', waiter: 'w', ...request })
  settleGrid(state)
  for (let i = 0; i <= FEWEST_SWEPT.groups; i++) groupFor(state, ask(`image-${i}`))
  expect(state.tasks.get('one')?.group).toBe(groupFor(state, ask('kept')))
})

test('instances without tasks are dropped above FEWEST_SWEPT.instances', () => {
  const state = grid()
  for (let i = 0; i < 20_000; i++) instanceNamed(state, `instance-${i}`)
  expect(state.instances.size).toBeLessThanOrEqual(FEWEST_SWEPT.instances)
})

test('worker classes without workers are dropped, so that at most 257 remain', () => {
  const state = grid()
  groupFor(state, ask('any'))
  for (let i = 0; i < 1000; i++) {
    const properties = [
      { name: 'image', value: '*' },
      { name: 'boot', value: `${i}` },
    ]
    registerWorker(state, { kind: 'register', worker: 'w', slots: 1, resources: {}, properties })
    settleGrid(state)
    dismissWorker(state, state.workers.get('w') as Worker, 'it left')
  }
  expect(state.classes.size).toBeLessThanOrEqual(257)
  expect(Math.max(...[...state.pools.values()].map((pool) => pool.classes.length))).toBeLessThanOrEqual(257)
  expect(state.openWorkers).toBe(0)
})
