import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import { API_CODES } from '../../../services/snippets/problem-codes.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { listAnswer, submittedAnswer, taskAnswerForm } from './answers.ts'
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

describe('idempotency keys', () => {
  const headers = { 'idempotency-key': 'order-1' }

  test('five requests with the same key, sent at once, become one task', async () => {
    const grid = await snippetsGrid()
    const worker = grid.worker('w1')
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => grid.ask('/api/v1/tasks', { body: HELLO, headers })),
    )
    const ids = new Set(answers.map((answer) => dataOf(answer, submittedAnswer).taskId))
    expect(ids.size).toBe(1)
    expect(worker.leases).toHaveLength(1)
    const inBody = await grid.ask('/api/v1/tasks', { body: { ...HELLO, idempotencyKey: 'order-1' } })
    expect(ids).toContain(dataOf(inBody, submittedAnswer).taskId)
  })

  test('another request with a used key is refused with 409', async () => {
    const grid = await snippetsGrid()
    grid.worker('w1')
    await grid.ask('/api/v1/tasks', { body: HELLO, headers })
    const { status, json } = await grid.ask('/api/v1/tasks', { body: { ...HELLO, stdin: 'x' }, headers })
    expect([status, json.code]).toEqual([409, API_CODES.key.code])
  })

  test('the key of an ended task returns that task', async () => {
    const grid = await snippetsGrid()
    grid.worker('w1', { answer: echoing })
    const first = dataOf(await grid.ask('/api/v1/tasks?wait=1s', { body: HELLO, headers }), taskAnswerForm)
    const second = dataOf(await grid.ask('/api/v1/tasks?wait=1s', { body: HELLO, headers }), taskAnswerForm)
    expect(second).toEqual(first)
  })

  test('a refused submission does not use up its key', async () => {
    const grid = await snippetsGrid()
    expect((await grid.ask('/api/v1/tasks', { body: HELLO, headers })).json.code).toBe(50301)
    const clock = manualClock()
    const other = await snippetsGrid({ clock })
    expect((await other.ask('/api/v1/tasks', { body: HELLO, headers })).json.code).toBe(50301)
    other.worker('w1')
    clock.advance(50)
    expect((await other.ask('/api/v1/tasks', { body: HELLO, headers })).json.code).toBe(0)
  })
})

test('keys, tasks and results are unchanged after a restart on the same journal', async () => {
  const journal = memoryJournal()
  const before = await snippetsGrid({ journal })
  before.worker('w1', { slots: 1, answer: echoing })
  before.worker('w2', { slots: 1, languages: ['ruby'] })
  const over = dataOf(
    await before.ask('/api/v1/tasks?wait=1s', { body: { ...HELLO, idempotencyKey: 'over' } }),
    taskAnswerForm,
  )
  await submitted(before, { ...HELLO, language: 'ruby' }) // takes the only slot
  const open = await submitted(before, { ...HELLO, language: 'ruby', idempotencyKey: 'open', expectedOutput: 'x' })
  before.service.close()
  await before.engine.close()

  const after = await snippetsGrid({ journal })
  const worker = after.worker('w3', { languages: ['python', 'ruby'] })
  await turns()
  expect(await shown(after, over.taskId)).toEqual(over)
  const replay = { ...HELLO, idempotencyKey: 'over' }
  expect(await submitted(after, replay)).toBe(over.taskId)
  expect((await after.ask('/api/v1/tasks', { body: { ...replay, code: 'other' } })).json.code).toBe(40901)
  expect(await submitted(after, { ...HELLO, language: 'ruby', idempotencyKey: 'open', expectedOutput: 'x' })).toBe(open)
  await worker.finish(ran(stage('x\n')))
  await turns()
  expect(await shown(after, open)).toMatchObject({ status: 'completed', verdict: 'accepted', attempt: 1 })
  expect(after.service.estimateMs({ language: 'ruby', files: [] })).toBe(1200)
})

describe('task lists', () => {
  async function withTasks() {
    const grid = await snippetsGrid()
    grid.worker('w1', {
      answer: (task) => (task.stages.length > 1 ? ended('exit') : ran(stage(''))),
    })
    for (let i = 0; i < 4; i++) await submitted(grid, { ...HELLO, metadata: { user: `u${i % 2}`, n: i } })
    await submitted(grid, { language: 'c', code: 'x', metadata: { user: 'u0' } })
    await turns()
    return grid
  }
  const listed = async (grid: SnippetsGrid, query: string) =>
    dataOf(await grid.ask(`/api/v1/tasks?${query}`), listAnswer)

  test.each([
    ['', 5],
    ['status=completed', 4],
    ['status=failed', 1],
    ['status=failed,completed', 5],
    ['status=cancelled', 0],
    ['language=c', 1],
    ['metadata.user=u0', 3],
    ['metadata.user=u0&metadata.n=2', 1],
    ['metadata.none=1', 0],
  ])('the query %j finds %i tasks', async (query, count) => {
    const grid = await withTasks()
    expect((await listed(grid, query)).tasks).toHaveLength(count)
  })

  test('pages list every task once, newest first', async () => {
    const grid = await withTasks()
    const ids: string[] = []
    let cursor: string | undefined = ''
    while (cursor !== undefined) {
      const page: Awaited<ReturnType<typeof listed>> = await listed(grid, `limit=2${cursor && `&cursor=${cursor}`}`)
      ids.push(...page.tasks.map(({ taskId }) => taskId))
      cursor = page.nextCursor
    }
    expect(ids).toHaveLength(5)
    expect(new Set(ids).size).toBe(5)
    expect((await shown(grid, ids[0] ?? '')).language).toBe('c')
  })

  test('tasks with unreadable notes are listed and shown', async () => {
    const grid = await withTasks()
    const [first] = (await listed(grid, 'limit=1')).tasks
    const spec = (await grid.engine.find(LOCAL_CALLER, first?.taskId ?? ''))?.spec ?? new Uint8Array()
    const notes = [
      undefined,
      '',
      '\u0001',
      '\u0001{',
      '\u0001[]',
      '\u0001{"language":7}',
      '\u0007{}',
      '\u0001{"language":"c","files":["a","b","c"]}',
    ]
    for (const note of notes)
      await grid.engine.submit(LOCAL_CALLER, {
        instance: '',
        origin: 'snippet',
        spec,
        ...(note !== undefined && { note: Buffer.from(note) }),
      })
    await grid.engine.submit(LOCAL_CALLER, { instance: '', origin: 'snippet', spec: Buffer.from('no task') })
    const { tasks } = await listed(grid, '')
    expect(tasks).toHaveLength(5 + notes.length + 1)
    for (const { taskId } of tasks) expect((await shown(grid, taskId)).taskId).toBe(taskId)
  })
})
