import { expect, test } from 'vitest'
import { linux, story, windows } from './story.fixture.ts'

test('a queued task reports the busy workers and the tasks ahead of it', () => {
  const grid = story()
  for (const worker of ['w1', 'w2', 'w3']) grid.worker(worker, linux)
  for (let i = 0; i < 16; i++) grid.submits(`t${i}`)
  expect(grid.core.why('t15', 0)).toEqual([
    'waiting: 3 workers fit, all busy; 12 tasks of its instance are ahead of it',
  ])
  expect(grid.core.why('t3', 0)).toEqual(['waiting: 3 workers fit, all busy; next of its invocation'])
})

test('a queued task reports the other invocations and instances', () => {
  const grid = story().worker('w1', linux).submits('a').submits('b').submits('c', { invocation: 'other' })
  grid.submits('d', { instance: 'x' })
  expect(grid.core.why('b', 0)).toEqual([
    'waiting: 1 worker fits, all busy; next of its invocation, ' +
      'alternating with 1 other invocation; 1 other instance waits too',
  ])
})

test('a task that no worker fits reports the missing property and the rest of its grace time', () => {
  const grid = story().worker('w1', linux).submits('a', { needs: windows })
  expect(grid.core.why('a', 18_000)).toEqual(['waiting: no worker offers OSFamily=windows; fails in 42 s'])
})

test('a queued task reports workers without enough free resources', () => {
  const grid = story()
    .worker('w1', linux, { slots: 4, resources: { cpu: 4 } })
    .submits('a', { demands: { cpu: 3 } })
  grid.submits('b', { demands: { cpu: 2 } })
  expect(grid.core.why('b', 0)[0]).toContain('1 worker fits, 1 without enough free resources')
})

test('a leased task reports its worker and its state', () => {
  const grid = story().worker('w1', linux).submits('a')
  expect(grid.core.why('a', 2000)).toEqual(['assigned: worker w1 has it for 2 s and has not started it'])
  grid.starts('a')
  expect(grid.core.why('a', 3000)).toEqual(['running: on worker w1 for 3 s'])
  grid.happens({ kind: 'disconnected', worker: 'w1' })
  expect(grid.core.why('a', 4000)).toEqual(['running: worker w1 lost its connection 4 s ago'])
  grid.cancels('a')
  expect(grid.core.why('a', 4000)).toEqual(['stopping: waiting for worker w1 to confirm'])
})

test('a retrying task reports its earlier faults', () => {
  const grid = story().worker('w1', linux).submits('a').fails('a')
  expect(grid.core.why('a', 0)).toEqual([
    'retrying: next attempt in 1 s',
    '1 earlier attempt failed by faults of the grid',
  ])
})

test('an unknown task has no explanation', () => {
  expect(story().core.why('nobody', 0)).toEqual([])
})

test('the figures count tasks and workers by state, instance and signature', () => {
  const grid = story().worker('w1', linux, { slots: 2 }).worker('w2', linux).submits('a').submits('b').submits('c')
  grid
    .submits('d', { instance: 'x', needs: windows, demands: { cpu: 3 } })
    .submits('e', { instance: 'x' })
    .starts('a')
  const figures = grid.core.figures()
  expect(figures).toMatchObject({ queued: 2, active: 3, slots: { total: 3, used: 3, staged: 0 } })
  expect(figures.tasks).toMatchObject({ queued: 2, assigned: 2, running: 1, pending: 0, completed: 0 })
  expect(figures.workers).toMatchObject({ BUSY: 2, ONLINE: 0 })
  expect(Object.fromEntries(figures.byInstance)).toEqual({ '': { queued: 0, active: 3 }, x: { queued: 2, active: 0 } })
  expect(Object.fromEntries(figures.bySignature)).toEqual({
    anything: { queued: 1, active: 3 },
    'OSFamily=windows, cpu 2': { queued: 1, active: 0 },
  })
})
