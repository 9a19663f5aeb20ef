import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import { openGrid, turns } from './grid.fixture.ts'

test('listOperations returns the same statuses as find, with one journal query', async () => {
  const journal = memoryJournal()
  let questions = 0
  const grid = await openGrid({
    ...journal,
    list: (query, cursor) => {
      questions++
      return journal.list(query, cursor)
    },
    find: (operation) => {
      questions++
      return journal.find(operation)
    },
  })
  const worker = grid.worker('w1', { slots: 30 })
  const names: string[] = []
  for (let i = 0; i < 40; i++) names.push((await grid.submit({ note: Buffer.from(`note ${i}`) })).operation)
  for (let i = 0; i < 20; i++) void worker.finish()
  worker.start()
  await turns()
  questions = 0
  const { operations, next } = await grid.engine.listOperations(LOCAL_CALLER, { limit: 100 })
  expect(questions).toBe(1)
  expect(next).toBeUndefined()
  expect(operations.map(({ operation }) => operation)).toEqual(names.reverse())
  for (const status of operations) expect(status).toEqual(await grid.engine.find(LOCAL_CALLER, status.operation))
  const states = operations.map(({ state }) => state)
  expect(states.filter((state) => state === 'completed')).toHaveLength(20)
  // The start is not recorded yet.
  expect(states.filter((state) => state === 'running')).toHaveLength(1)
})
