/** An instance at its limit is refused with a retry time, and other instances are not affected. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { instanceLimits, limits } from '../../src/app/config/http-limits.ts'
import { FaultError } from '../../src/base/fault.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { memoryJournal } from '../../src/storage/journal/memory-journal.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'

async function grid(options: object) {
  const clock = manualClock()
  const scheduler = { limits: instanceLimits(limits.parse(options)) }
  const engine = await createEngine({
    journal: memoryJournal(),
    clock,
    newId: randomUUID,
    random: () => 0.5,
    scheduler,
  })
  onTestFinished(() => engine.close())
  const submit = (instance: string) =>
    engine.submit(LOCAL_CALLER, { instance, origin: 'snippet', spec: Buffer.from('x') })
  const refusal = (instance: string) =>
    submit(instance).then(
      () => undefined,
      (error: unknown) => (error instanceof FaultError ? error.fault : error),
    )
  return { engine, clock, submit, refusal }
}

const exhausted = { kind: 'exhausted', retryAfterMs: expect.any(Number) }

test('an instance at max_open_tasks_per_instance is refused until one of its tasks ends', async () => {
  const { engine, submit, refusal } = await grid({ max_open_tasks_per_instance: 2 })
  const { operation } = await submit('busy')
  await submit('busy')
  expect(await refusal('busy')).toMatchObject(exhausted)
  expect(await refusal('other')).toBeUndefined()
  await engine.cancel(LOCAL_CALLER, operation)
  expect(await refusal('busy')).toBeUndefined()
})

test('an instance at max_tasks_per_second_per_instance is refused for 500 ms, and others are not', async () => {
  const { clock, submit, refusal } = await grid({ max_tasks_per_second_per_instance: 2 })
  await submit('fast')
  await submit('fast')
  expect(await refusal('fast')).toMatchObject({ ...exhausted, retryAfterMs: 500 })
  expect(await refusal('other')).toBeUndefined()
  clock.advance(500)
  expect(await refusal('fast')).toBeUndefined()
})
