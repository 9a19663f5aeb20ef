import { expect, test } from 'vitest'
import type { Journal } from '../storage/journal/journal.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import { openGrid, turns } from './grid.fixture.ts'

/** A journal, and what it was asked to record in which word. */
function watched(): { journal: Journal; recorded: string[] } {
  const inner = memoryJournal()
  const recorded: string[] = []
  const record: Journal['record'] = (facts, durability) => {
    recorded.push(`${facts.map(({ kind }) => kind).join(' ')}: ${durability}`)
    return inner.record(facts, durability)
  }
  return { journal: { ...inner, record }, recorded }
}

test('a task of which nobody is told before its end goes to the disk once, with that', async () => {
  const { journal, recorded } = watched()
  const grid = await openGrid(journal)
  const worker = grid.worker('w1')
  await turns()
  recorded.length = 0
  await grid.submit({ durability: 'power', isToldLate: true })
  await worker.finish()
  expect(recorded).toEqual(['accepted leased: process', 'finished: power'])
})

test('who has to tell of it earlier can have it on the disk first', async () => {
  const { journal, recorded } = watched()
  const grid = await openGrid(journal)
  await grid.submit({ durability: 'power', isToldLate: true })
  await grid.engine.secure()
  expect(recorded).toEqual(['accepted: process', 'offered: power'])
})

test('any other task is on the disk before its acknowledgement', async () => {
  const { journal, recorded } = watched()
  const grid = await openGrid(journal)
  await grid.submit({ durability: 'power' })
  expect(recorded).toEqual(['accepted: power'])
})

test('what joins a task that is told late is on the disk before its own acknowledgement', async () => {
  const { journal, recorded } = watched()
  const grid = await openGrid(journal)
  const same = { durability: 'power', cacheable: true, actionKey: 'same' } as const
  await grid.submit({ ...same, isToldLate: true })
  await grid.submit(same)
  expect(recorded).toEqual(['accepted: process', 'joined: power'])
})
