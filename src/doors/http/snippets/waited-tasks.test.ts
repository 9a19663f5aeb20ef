import { expect, test } from 'vitest'
import type { Journal } from '../../../storage/journal/journal.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { taskAnswerForm } from './answers.ts'
import { dataOf, echoing, HELLO, snippetsGrid, submitted, turns } from './snippets.fixture.ts'

/** A journal that records the durability of accepted tasks and of ends; while it is held, no write to disk completes. */
function slowDisk() {
  const inner = memoryJournal()
  const recorded: string[] = []
  let held: Promise<void> | undefined
  const record: Journal['record'] = async (facts, durability) => {
    for (const { kind } of facts)
      if (kind === 'accepted' || kind === 'finished') recorded.push(`${kind}: ${durability}`)
    const late = await inner.record(facts, durability)
    if (durability === 'power') await held
    return late
  }
  return {
    journal: { ...inner, record },
    recorded,
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
  }
}

test('with wait, only the end of the task is synced to disk before the answer', async () => {
  const { journal, recorded } = slowDisk()
  const grid = await snippetsGrid({ journal })
  grid.worker('w1', { answer: echoing })
  const answer = await grid.ask('/api/v1/tasks?wait=30s', { body: HELLO })
  expect(dataOf(answer, taskAnswerForm).status).toBe('completed')
  expect(recorded).toEqual(['accepted: process', 'finished: power'])
  expect(answer.headers.get('location')).toMatch(/^\/api\/v1\/tasks\/task_/)
})

test('when the wait time is over, the task is synced to disk before the answer', async () => {
  const clock = manualClock()
  const { journal, hold } = slowDisk()
  const grid = await snippetsGrid({ journal, clock })
  grid.worker('w1')
  const letGo = hold()
  let isAnswered = false
  const asked = grid.ask('/api/v1/tasks?wait=2s', { body: HELLO }).finally(() => (isAnswered = true))
  await turns()
  clock.advance(2000)
  await turns()
  expect(isAnswered).toBe(false)
  letGo()
  expect(dataOf(await asked, taskAnswerForm).status).toBe('submitted')
})

test('without wait, the task is synced to disk before the answer', async () => {
  const { journal, recorded } = slowDisk()
  const grid = await snippetsGrid({ journal })
  grid.worker('w1')
  await submitted(grid)
  expect(recorded).toEqual(['accepted: power'])
})

test.each([
  ['a key, for others may come with it', { idempotencyKey: 'k' }],
  ['the network, for what it does there is seen', { network: true }],
])('with wait, a task with %s is synced to disk when it is accepted', async (_, more) => {
  const { journal, recorded } = slowDisk()
  const grid = await snippetsGrid({ journal })
  grid.worker('w1', { answer: echoing })
  const { json } = await grid.ask('/api/v1/tasks?wait=30s', { body: { ...HELLO, ...more } })
  expect([json.code, recorded[0]]).toEqual([0, 'accepted: power'])
})
