import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import type { Journal } from '../storage/journal/journal.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import { openGrid, turns } from './grid.fixture.ts'

/** A journal that lists the kinds of facts of each call. */
function overheard() {
  const inner = memoryJournal()
  const calls: string[] = []
  const journal: Journal = {
    ...inner,
    record(facts, durability) {
      calls.push(facts.map(({ kind, ...fact }) => ('task' in fact ? kind : `${kind}!`)).join(' '))
      return inner.record(facts, durability)
    },
  }
  return { journal, calls }
}

test('a short task takes two journal calls: accepted, and finished', async () => {
  const { journal, calls } = overheard()
  const grid = await openGrid(journal)
  const worker = grid.worker('w1')
  calls.length = 0
  await grid.submit()
  worker.start()
  await turns()
  await worker.finish()
  await grid.after(1000)
  expect(calls).toEqual(['accepted leased', 'finished'])
  const { tasks } = await grid.engine.list(LOCAL_CALLER, {})
  expect((await grid.engine.find(LOCAL_CALLER, tasks[0]?.operation ?? ''))?.startedAt).toBeTypeOf('number')
})

test('the start of a task is recorded by itself after 50 ms without another record', async () => {
  const { journal, calls } = overheard()
  const grid = await openGrid(journal)
  const worker = grid.worker('w1')
  await grid.submit()
  calls.length = 0
  worker.start()
  await grid.after(49)
  expect(calls).toEqual([])
  await grid.after(1)
  expect(calls).toEqual(['started'])
  expect((await grid.engine.list(LOCAL_CALLER, {})).tasks[0]).toMatchObject({ state: 'running' })
})

test('the start of a task is written with the next awaited record, in its own call', async () => {
  const { journal, calls } = overheard()
  const grid = await openGrid(journal)
  const worker = grid.worker('w1')
  await grid.submit()
  calls.length = 0
  worker.start()
  await grid.submit()
  expect(calls).toEqual(['accepted', 'started'])
  await grid.after(1000)
  expect(calls).toHaveLength(2)
})

test('a start just before the server closes is recorded', async () => {
  const { journal } = overheard()
  const grid = await openGrid(journal)
  const worker = grid.worker('w1')
  await grid.submit()
  worker.start()
  await grid.engine.close()
  expect((await journal.list({})).tasks[0]).toMatchObject({ state: 'running' })
})

test('the start of a cancelled task is recorded at once, with the cancellation', async () => {
  const { journal, calls } = overheard()
  const grid = await openGrid(journal)
  const worker = grid.worker('w1')
  const { operation } = await grid.submit()
  worker.start()
  calls.length = 0
  await grid.engine.cancel(LOCAL_CALLER, operation)
  expect(calls).toEqual(['started cancel-asked left'])
})
