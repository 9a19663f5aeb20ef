import { expect, test } from 'vitest'
import type { Journal } from '../storage/journal/journal.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import { openGrid, turns } from './grid.fixture.ts'

/** A journal, and the facts of each call with their durability. */
function watched(): { journal: Journal; recorded: string[] } {
  const inner = memoryJournal()
  const recorded: string[] = []
  const record: Journal['record'] = (facts, durability) => {
    recorded.push(`${facts.map(({ kind }) => kind).join(' ')}: ${durability}`)
    return inner.record(facts, durability)
  }
  return { journal: { ...inner, record }, recorded }
}

test('a task with a deferred acknowledgement is synced to disk once, with its end', async () => {
  const { journal, recorded } = watched()
  const grid = await openGrid(journal)
  const worker = grid.worker('w1')
  await turns()
  recorded.length = 0
  await grid.submit({ durability: 'power', deferAck: true })
  await worker.finish()
  expect(recorded).toEqual(['accepted leased: process', 'finished: power'])
})

test('a deferred task is synced when its caller calls secure()', async () => {
  const { journal, recorded } = watched()
  const grid = await openGrid(journal)
  await grid.submit({ durability: 'power', deferAck: true })
  await grid.engine.secure()
  expect(recorded).toEqual(['accepted: process', 'offered: power'])
})

test('a task without a deferred acknowledgement is synced to disk before its acknowledgement', async () => {
  const { journal, recorded } = watched()
  const grid = await openGrid(journal)
  await grid.submit({ durability: 'power' })
  expect(recorded).toEqual(['accepted: power'])
})

test('an operation that joins a task with a deferred acknowledgement is synced before its own acknowledgement', async () => {
  const { journal, recorded } = watched()
  const grid = await openGrid(journal)
  const same = { durability: 'power', cacheable: true, actionKey: 'same' } as const
  await grid.submit({ ...same, deferAck: true })
  await grid.submit(same)
  expect(recorded).toEqual(['accepted: process', 'joined: power'])
})
