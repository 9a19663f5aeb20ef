import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { createEngine } from '../../engine/engine.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import { memoryJournal } from '../../storage/journal/memory-journal.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { gridMeter } from './grid.ts'
import { gridGauges } from './grid-gauges.ts'

const LINUX = [{ name: 'OSFamily', value: 'linux' }]
const session = { lease() {}, begin() {}, stop() {}, order() {}, close() {} }

async function meteredGrid() {
  const registry = new Registry()
  const clock = manualClock()
  const meter = gridMeter(registry)
  let ids = 0
  const engine = await createEngine({
    journal: memoryJournal(),
    clock,
    newId: () => `op-${++ids}`,
    random: () => 0.5,
    meter,
    scheduler: { maxQueued: 150 },
  })
  gridGauges(registry, engine.figures)
  const lines = async (start: string) => (await registry.metrics()).split('\n').filter((line) => line.startsWith(start))
  const submit = (instance: string) =>
    engine.submit(LOCAL_CALLER, {
      instance,
      origin: 'action',
      spec: Buffer.from('x'),
      properties: LINUX,
      mayStartEarly: true,
    })
  return { engine, clock, meter, lines, submit }
}

describe('grid metrics', () => {
  test('queue time, run time and end state of tasks are counted', async () => {
    const { engine, clock, meter, lines, submit } = await meteredGrid()
    const { task } = await submit('main')
    expect(meter.tally()).toEqual({ accepted: 1, ended: 0 })
    expect(await lines('windlass_queue_length')).toEqual(['windlass_queue_length 1'])
    clock.advance(2000)
    engine.workers.register({ worker: 'w1', slots: 1, properties: LINUX }, session)
    expect(await lines('windlass_tasks_active')).toEqual(['windlass_tasks_active 1'])
    expect(await lines('windlass_workers{state="BUSY"')).toEqual(['windlass_workers{state="BUSY"} 1'])
    const attemptId = `${task}.1-1`
    engine.workers.started('w1', attemptId)
    clock.advance(500)
    await engine.workers.finished({ worker: 'w1', attemptId }, { outcome: { kind: 'result', succeeded: true } })
    const labels = 'instance="main",platform="OSFamily=linux"'
    expect(await lines('windlass_tasks_finished_total')).toContain(
      `windlass_tasks_finished_total{${labels},state="completed"} 1`,
    )
    expect(meter.tally()).toEqual({ accepted: 1, ended: 1 })
    expect(await lines('windlass_task_queue_seconds_sum')).toEqual([`windlass_task_queue_seconds_sum{${labels}} 2`])
    expect(await lines('windlass_task_run_seconds_sum')).toEqual([`windlass_task_run_seconds_sum{${labels}} 0.5`])
    expect(await lines('windlass_queue_length')).toEqual(['windlass_queue_length 0'])
  })

  test('at most 100 instances have their own series, the rest share one', async () => {
    const { lines, submit } = await meteredGrid()
    for (let i = 0; i < 150; i++) await submit(`made-up-${i}-${'x'.repeat(500)}`)
    await submit('one too many').catch(() => {})
    expect(await lines('windlass_tasks_accepted_total')).toHaveLength(101)
    expect(await lines('windlass_tasks_accepted_total{instance="(others)"')).toEqual([expect.stringMatching(/ 50$/)])
    expect((await lines('windlass_instance_tasks')).length).toBe(200)
    expect(Math.max(...(await lines('windlass_')).map((line) => line.length))).toBeLessThan(400)
    expect(await lines('windlass_tasks_refused_total')).toEqual(['windlass_tasks_refused_total{why="queue-full"} 1'])
  })
})
