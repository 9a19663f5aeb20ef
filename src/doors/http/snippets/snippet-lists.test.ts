import { expect, test } from 'vitest'
import { MOST_READ } from '../../../services/snippets/list-snippets.ts'
import type { Journal } from '../../../storage/journal/journal.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { listAnswer } from './answers.ts'
import {
  dataOf,
  echoing,
  ended,
  HELLO,
  ran,
  type SnippetsGrid,
  shown,
  snippetsGrid,
  stage,
  submitted,
  turns,
} from './snippets.fixture.ts'

const page = async (grid: SnippetsGrid, query: string, cursor?: string) =>
  dataOf(await grid.ask(`/api/v1/tasks?${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`), listAnswer)

/** The tasks of all pages, in order. */
async function allOf(grid: SnippetsGrid, query: string) {
  const ids: string[] = []
  let requests = 0
  let cursor: string | undefined
  do {
    const { tasks, nextCursor } = await page(grid, query, cursor)
    ids.push(...tasks.map(({ taskId }) => taskId))
    cursor = nextCursor
    requests++
  } while (cursor !== undefined)
  return { ids, requests }
}

const SAME = { ...HELLO, cache: true }

test('merged and cached tasks are listed and found, before and after a restart', async () => {
  const journal = memoryJournal()
  const clock = manualClock()
  const grid = await snippetsGrid({ journal, clock })
  const worker = grid.worker('w1')
  const merged: string[] = []
  for (const user of ['ann', 'ben', 'cat']) {
    merged.unshift(await submitted(grid, { ...SAME, metadata: { user } }))
    clock.advance(1000)
  }
  expect(worker.leases).toHaveLength(1)
  const stays = async (where: SnippetsGrid) => {
    expect((await allOf(where, 'limit=2')).ids).toEqual(merged)
    for (const [at, user] of ['cat', 'ben', 'ann'].entries())
      expect((await page(where, `metadata.user=${user}`)).tasks.map(({ taskId }) => taskId)).toEqual([merged[at]])
    const created = (await page(where, '')).tasks.map(({ timestamps }) => Date.parse(timestamps.createdAt))
    expect(created).toEqual([2000, 1000, 0].map((ms) => (created[2] ?? 0) + ms))
  }
  await stays(grid)
  const [, cancelled = ''] = merged
  await grid.ask(`/api/v1/tasks/${cancelled}/cancel`, { method: 'POST' })
  expect((await page(grid, 'status=cancelled')).tasks.map(({ taskId }) => taskId)).toEqual([cancelled])
  await worker.finish(ran(stage('Hello, World!\n')))
  await turns()
  grid.service.close()
  await grid.engine.close()

  const after = await snippetsGrid({ journal, clock })
  await stays(after)
  expect((await page(after, 'status=cancelled')).tasks.map(({ taskId }) => taskId)).toEqual([cancelled])
  expect((await page(after, 'status=completed')).tasks.map(({ taskId }) => taskId)).toEqual(
    merged.filter((id) => id !== cancelled),
  )
  for (const id of merged) expect((await shown(after, id)).status).toBe(id === cancelled ? 'cancelled' : 'completed')
})

test('a rare metadata filter reads at most MOST_READ records per request, and finds all tasks over several pages', async () => {
  const counted = counting(withoutLabels(memoryJournal()))
  const grid = await snippetsGrid({ journal: counted.journal })
  grid.worker('w1', { slots: 64, answer: echoing })
  const needles: string[] = []
  for (let i = 0; i < 5000; i++) {
    const isNeedle = i % 1100 === 17
    const id = await submitted(grid, { ...HELLO, metadata: { kind: isNeedle ? 'needle' : 'hay' } })
    if (isNeedle) needles.unshift(id)
  }
  await turns(100)
  for (const limit of [1, 2, 50]) {
    counted.reset()
    const { ids, requests } = await allOf(grid, `metadata.kind=needle&limit=${limit}`)
    expect(ids).toEqual(needles)
    expect(requests).toBeLessThanOrEqual(needles.length + 5000 / MOST_READ + 1)
  }
  counted.reset()
  const { tasks, nextCursor } = await page(grid, 'metadata.kind=none')
  expect([tasks, counted.records()]).toEqual([[], MOST_READ])
  expect(nextCursor).toBeDefined()
  counted.reset()
  expect((await page(grid, 'limit=7')).tasks).toHaveLength(7)
  expect(counted.records()).toBe(7)
})

test('a filter for language or metadata reads only the records that match', async () => {
  const counted = counting(memoryJournal())
  const grid = await snippetsGrid({ journal: counted.journal })
  grid.worker('w1', { slots: 64, answer: echoing })
  const needles: string[] = []
  for (let i = 0; i < 300; i++) {
    const id = await submitted(grid, { ...HELLO, metadata: { kind: i % 100 === 17 ? 'needle' : 'hay', of: 'stack' } })
    if (i % 100 === 17) needles.unshift(id)
  }
  await turns(100)
  for (const [query, found] of [
    [`metadata.kind=needle&language=${HELLO.language}`, needles],
    ['metadata.of=stack&metadata.kind=needle', needles],
    ['metadata.kind=none', []],
    ['metadata.kind=needle&language=none', []],
  ] as const) {
    counted.reset()
    expect(await allOf(grid, query)).toEqual({ ids: found, requests: 1 })
    expect(counted.records()).toBe(found.length)
  }
})

test('a filter for failed snippets reads only records of tasks that did not succeed', async () => {
  const counted = counting(memoryJournal())
  const grid = await snippetsGrid({ journal: counted.journal })
  let count = 0
  grid.worker('w1', { slots: 1, answer: (task) => (++count % 50 === 7 ? ended('exit') : echoing(task)) })
  for (let i = 0; i < 100; i++) await submitted(grid)
  await turns(2000)
  for (const [query, found] of [
    ['status=failed', 2],
    ['status=failed&status=timeout', 2],
    ['status=timeout', 0],
    ['status=completed&limit=500', 98],
  ] as const) {
    counted.reset()
    expect((await allOf(grid, query)).ids).toHaveLength(found)
    expect(counted.records()).toBe(query.includes('completed') ? 100 : 2)
  }
})

/** Lists as if all tasks were recorded before labels existed. */
const withoutLabels = (inner: Journal): Journal => ({
  ...inner,
  list: (query, cursor) => inner.list({ ...query, labels: undefined }, cursor),
})

/** Counts the records that are read from it. */
function counting(inner: Journal) {
  let records = 0
  const journal: Journal = {
    ...inner,
    async list(query, cursor) {
      const found = await inner.list(query, cursor)
      records += found.tasks.length
      return found
    },
  }
  return {
    journal,
    records: () => records,
    reset() {
      records = 0
    },
  }
}

test('the attempt number counts the starts of the task', async () => {
  const grid = await snippetsGrid()
  const first = grid.worker('w1')
  const id = await submitted(grid)
  expect(first.leases).toHaveLength(1)
  expect(await shown(grid, id)).toMatchObject({ status: 'submitted', attempt: 0 })
  first.leave()
  const second = grid.worker('w2')
  second.start()
  expect(await shown(grid, id)).toMatchObject({ status: 'executing', attempt: 1 })
  await second.finish(ran(stage('')))
  await turns()
  expect(await shown(grid, id)).toMatchObject({ status: 'completed', attempt: 1 })
})
