import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { until } from '../workers/grid.ts'
import { type SocketGrid, startSocketGrid } from './socket-grid.ts'

/** Advances the clock by seconds, with a heartbeat of the workers before each. */
async function pass(grid: SocketGrid, seconds: number, beat: () => void): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    beat()
    await new Promise((resolve) => setTimeout(resolve, 2))
    grid.clock.advance(1000)
  }
}

test('a task without a result in time is retried on another worker, and a late result is superseded', async () => {
  const grid = await startSocketGrid()
  const silent = await grid.worker('silent')
  const { operation } = await grid.submit({ limits: { wallMs: 2000 } })
  const first = await silent.hears()
  expect(first).toMatchObject({ type: 'execute', attempt: 1 })
  await until(async () => (await grid.engine.find(LOCAL_CALLER, operation))?.state === 'running')
  const other = await grid.worker('other')
  await until(() => grid.stateOf('other') === 'ONLINE')
  await pass(grid, 20, () => {
    silent.heartbeat()
    other.heartbeat()
  })
  const second = await other.hears()
  expect(second).toMatchObject({ type: 'execute', attempt: 2, code: first.code })
  silent.finish(first, { output: 'too late' })
  other.finish(second, { output: 'in time' })
  const { status, result } = await grid.end(operation)
  expect(status).toMatchObject({ state: 'completed', worker: 'other', attempt: 2 })
  expect(Buffer.from(result?.stages[0]?.stdout.inline ?? []).toString()).toBe('in time')
})

test("a task of a preempted worker is retried at once, and the worker's own result is not applied", async () => {
  const grid = await startSocketGrid()
  const spot = await grid.worker('spot')
  const { operation } = await grid.submit()
  const first = await spot.hears()
  const other = await grid.worker('other')
  await until(() => grid.stateOf('other') === 'ONLINE')
  spot.heartbeat({ status: 'preempted' })
  spot.finish(first, { output: 'killed', success: true })
  const second = await other.hears()
  expect(second).toMatchObject({ type: 'execute', attempt: 2 })
  other.finish(second, { output: 'whole' })
  const { status, result } = await grid.end(operation)
  expect(status).toMatchObject({ state: 'completed', worker: 'other', attempt: 2 })
  expect(Buffer.from(result?.stages[0]?.stdout.inline ?? []).toString()).toBe('whole')
  expect((await grid.engine.why(LOCAL_CALLER, operation)).join()).not.toContain('faults')
})
