import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { TASK_STATES } from '../../../model/task-state.ts'
import type { Fact } from '../fact.ts'
import { accepted, finished, leased } from '../facts.fixture.ts'
import type { HistoryPage, HistoryQuery } from '../journal.ts'
import { memoryJournal } from '../memory-journal.ts'
import { FactWriter } from './fact-writer.ts'
import { history } from './history.ts'
import { migrate } from './schema.ts'

type List = (query: HistoryQuery, cursor?: string) => HistoryPage | Promise<HistoryPage>

async function allOf(list: List, query: HistoryQuery): Promise<{ tasks: string[]; pages: number }> {
  const tasks: string[] = []
  let pages = 0
  let cursor: string | undefined
  do {
    const page = await list(query, cursor)
    for (const { task } of page.tasks) tasks.push(task)
    cursor = page.next
    pages++
  } while (cursor !== undefined)
  return { tasks, pages }
}

function database() {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const writer = new FactWriter(db, { by: { owner: 1, epoch: 1 }, open: [], markDistance: 64 })
  const tasks = history(db)
  return { db, writer, list: (query: HistoryQuery, cursor?: string) => tasks.list(query, cursor) }
}

/** Pseudorandom numbers below `end`, the same in every run. */
function numbers(seed: number): (end: number) => number {
  let state = seed
  return (end) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % end
  }
}

const LABELS = ['python', 'bash', 'ann', 'ben']

/** Tasks with random facts; some stay unfinished. */
function livesOf(count: number, pick: (end: number) => number): Fact[][] {
  return Array.from({ length: count }, (_, i) => {
    const task = `t${i}`
    const labels = LABELS.filter(() => pick(3) === 0)
    const facts: Fact[] = [accepted(task, { labels, instance: pick(4) === 0 ? 'other' : 'main', at: 1000 + i })]
    if (pick(4) === 0) facts.push({ kind: 'joined', task, operation: `${task} too`, labels: ['ann'], at: 2000 })
    if (pick(8) === 0) facts.push({ kind: 'left', task, operation: `operations/${task}`, at: 2000 })
    if (pick(3) === 0) facts.push(leased(task, i + 1))
    const state = (['completed', 'completed', 'failed', 'timeout', 'cancelled'] as const)[pick(8)]
    return state === undefined ? facts : [...facts, finished(task, undefined, { state })]
  })
}

test('random filters list the same tasks as the in-memory journal', async () => {
  const pick = numbers(7)
  const memory = memoryJournal()
  await memory.recover()
  const { writer, list } = database()
  for (const facts of livesOf(600, pick)) {
    const [first, ...rest] = facts
    for (const call of pick(2) === 0 ? [facts] : [[first as Fact], rest]) {
      await memory.record(call, 'process')
      expect(writer.write([call])).toEqual([{ late: [] }])
    }
  }
  for (let i = 0; i < 300; i++) {
    const query: HistoryQuery = {
      ...(pick(3) === 0 && { instance: 'other' }),
      ...(pick(2) === 0 && { states: TASK_STATES.filter(() => pick(4) === 0), orLeft: pick(3) === 0 }),
      ...(pick(2) === 0 && { labels: LABELS.filter(() => pick(3) === 0) }),
      ...(pick(4) === 0 && { acceptedFrom: 1000 + pick(600) }),
      whole: pick(2) === 0,
      limit: 1 + pick(40),
    }
    const found = await allOf(list, query)
    const expected = await allOf((asked, cursor) => memory.list(asked, cursor), query)
    expect([query, found.tasks]).toEqual([query, expected.tasks])
  }
})

test('a task recorded before labels existed is listed for every label filter, and by its state', async () => {
  const { db, writer, list } = database()
  writer.write([[accepted('old failed'), finished('old failed', undefined, { state: 'failed' })], [accepted('old')]])
  db.exec('DELETE FROM words; UPDATE words_from SET at = 3')
  writer.write([[accepted('new', { labels: ['x'] })], [accepted('new failed'), finished('new failed', undefined)]])
  expect((await allOf(list, { labels: ['x'] })).tasks).toEqual(['new', 'old', 'old failed'])
  expect((await allOf(list, { states: ['failed'] })).tasks).toEqual(['old failed'])
})

test('a filter over 25,000 tasks needs one page, and a gap of deleted tasks needs none', async () => {
  const { db, writer, list } = database()
  const write = (from: number, to: number): void => {
    const facts: Fact[] = []
    for (let i = from; i < to; i++) facts.push(accepted(`t${i}`), finished(`t${i}`, undefined))
    writer.write([facts])
  }
  writer.write([
    [accepted('first', { labels: ['x'] })],
    [accepted('bad'), finished('bad', undefined, { state: 'timeout' })],
  ])
  write(0, 25_000)
  for (const query of [{ labels: ['x'] }, { states: ['timeout'] }] as const)
    expect(await allOf(list, query)).toMatchObject({ tasks: [expect.any(String)], pages: 1 })
  db.exec('DELETE FROM tasks WHERE key > 2 AND key < 24000')
  expect((await allOf(list, { name: 'nothing' })).pages).toBe(2)
  // Above the mark SQLite reads all tasks, below it only the unfinished ones.
  expect(await allOf(list, { states: ['queued'] })).toEqual({ tasks: ['first'], pages: 2 })
})
