import { describe, expect, test } from 'vitest'
import { accepted, finished } from './facts.fixture.ts'
import type { HistoryQuery, Journal, TaskRecord } from './journal.ts'

type Make = () => Promise<{ readonly journal: Journal }>

/** The behaviour of every journal's queries; part of its contract. */
export function historyContract(make: Make): void {
  describe('find', () => finding(make))
  describe('list', () => listing(make))
  describe('list by label', () => listingNamed(make))
  describe('list by label', () => listingLabels(make))
  describe('list of whole records', () => listingWhole(make))
  describe('list from a cursor', () => listingPlaces(make))
  describe('forget', () => forgetting(make))
}

export async function find(journal: Journal, operation: string): Promise<TaskRecord> {
  const found = await journal.find(operation)
  if (found === undefined) throw new Error(`nothing is found under ${operation}`)
  return found
}

export const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString()
export const tasksOf = (tasks: readonly { readonly task: string }[]): string[] => tasks.map(({ task }) => task)

function finding(make: Make): void {
  test('returns a task by each of its operations, including those that left', async () => {
    const { journal } = await make()
    const names = ['one', 'two', 'three']
    await journal.record([accepted('other'), accepted('t')], 'process')
    await journal.record(
      names.map((operation) => ({ kind: 'joined', task: 't', operation, at: 1100 }) as const),
      'process',
    )
    await journal.record([{ kind: 'left', task: 't', operation: 'operations/t', at: 1200 }], 'process')
    await journal.record([{ kind: 'left', task: 't', operation: 'two', at: 1300 }, finished('t', undefined)], 'process')
    for (const name of ['operations/t', ...names]) expect((await find(journal, name)).task).toBe('t')
    const { operations } = await find(journal, 'three')
    expect(operations.map(({ name, leftAt }) => `${name} ${leftAt}`).join(', ')).toBe(
      'operations/t 1200, one undefined, two 1300, three undefined',
    )
  })

  test('returns undefined for an unknown operation', async () => {
    const { journal } = await make()
    await journal.record([accepted('t')], 'process')
    const strangers = ['t', '', 'operations/', 'operations/T', `operations/t' OR 1`]
    for (const name of strangers) expect(await journal.find(name)).toBeUndefined()
  })
}

function listing(make: Make): void {
  test('returns tasks newest first, page by page', async () => {
    const { journal } = await make()
    const names = Array.from({ length: 25 }, (_, i) => `t${i}`)
    await journal.record(
      names.map((task) => accepted(task)),
      'process',
    )
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { tasks, next } = await journal.list({ limit: 10 }, cursor)
      expect(tasks.length).toBeLessThanOrEqual(10)
      seen.push(...tasksOf(tasks))
      cursor = next
    } while (cursor !== undefined)
    expect(seen).toEqual(names.reverse())
  })

  test('filters by instance, origin, invocation, state, time and operation name', async () => {
    const { journal } = await make()
    await journal.record([accepted('a', { instance: 'x', at: 1 }), accepted('b', { origin: 'step', at: 2 })], 'process')
    await journal.record([accepted('c', { invocation: 'i', at: 3 }), finished('c', undefined)], 'process')
    const asked = async (query: HistoryQuery) => tasksOf((await journal.list(query)).tasks).join('')
    expect(await asked({ instance: 'x' })).toBe('a')
    expect(await asked({ origin: 'action' })).toBe('ca')
    expect(await asked({ invocation: 'i' })).toBe('c')
    expect(await asked({ states: ['completed', 'failed'] })).toBe('c')
    expect(await asked({ states: ['queued'], instance: 'main' })).toBe('b')
    expect(await asked({ states: [] })).toBe('')
    expect(await asked({ acceptedFrom: 2 })).toBe('cb')
    expect(await asked({ acceptedFrom: 1, acceptedBefore: 3 })).toBe('ba')
    expect(await asked({ limit: -1 })).toBe('cba')
    await journal.record([{ kind: 'joined', task: 'a', operation: 'Nightly 50%_off', at: 4 }], 'process')
    expect(await asked({ name: 'ions/b' })).toBe('b')
    expect(await asked({ name: '50%_o' })).toBe('a')
    expect(await asked({ name: '%' })).toBe('a')
    expect(await asked({ name: 'nightly' })).toBe('')
    expect(await asked({ name: '' })).toBe('cba')
    expect(await asked({ name: 'operations', origin: 'action', states: ['queued'] })).toBe('a')
  })

  test('rejects a cursor that it did not issue as invalid', async () => {
    const { journal } = await make()
    for (const cursor of ['', '0', '-1', 'x', '1e3', '9'.repeat(40), '1 OR 1']) {
      await expect(journal.list({}, cursor)).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    }
  })
}

function listingNamed(make: Make): void {
  test('returns only tasks whose first operation is in `operations`, newest first', async () => {
    const { journal } = await make()
    const names = Array.from({ length: 6 }, (_, i) => `t${i}`)
    await journal.record(
      names.map((task) => accepted(task)),
      'process',
    )
    await journal.record([finished('t4', undefined)], 'process')
    const operations = ['t1', 't4', 't2', 'unknown'].map((name) => `operations/${name}`)
    const first = await journal.list({ operations, limit: 1, states: ['queued'] })
    expect(tasksOf(first.tasks)).toEqual(['t2'])
    const { tasks } = await journal.list({ operations, states: ['queued'] }, first.next)
    expect(tasksOf(tasks)).toEqual(['t1'])
    expect(tasksOf((await journal.list({ operations: [] })).tasks)).toEqual([])
  })
}

function listingLabels(make: Make): void {
  test("filters by the labels of any operation and of the task's end", async () => {
    const { journal } = await make()
    const labels = ['python', 'ann']
    await journal.record([accepted('a', { labels }), accepted('b', { labels: ['python'] }), accepted('c')], 'process')
    await journal.record([finished('b', undefined, { state: 'failed', labels: ['bad'] })], 'process')
    await journal.record([finished('b', undefined, { labels: ['late'] })], 'process')
    await journal.record([accepted('d'), finished('d', undefined, { labels: ['bad'] })], 'process')
    const joining = { kind: 'joined', task: 'c', operation: 'c too', labels: ['ann', 'ann'], at: 1100 } as const
    await journal.record([joining], 'process')
    const asked = async (query: HistoryQuery) => {
      const whole = await journal.list({ ...query, whole: true })
      expect(tasksOf(whole.tasks)).toEqual(tasksOf((await journal.list(query)).tasks))
      return tasksOf(whole.tasks).join('')
    }
    expect(await asked({ labels: ['python'] })).toBe('ba')
    expect(await asked({ labels: ['ann'] })).toBe('ca')
    expect(await asked({ labels: ['ann', 'python'] })).toBe('a')
    expect(await asked({ labels: ['python'], states: ['failed', 'timeout'] })).toBe('b')
    expect(await asked({ labels: ['python'], states: ['queued'] })).toBe('a')
    expect(await asked({ labels: ['pyth'] })).toBe('')
    expect(await asked({ labels: ['bad'] })).toBe('db')
    expect(await asked({ labels: ['bad', 'python'] })).toBe('b')
    expect(await asked({ labels: ['late'] })).toBe('')
    expect(await asked({ labels: [] })).toBe('dcba')
    expect(await journal.forget(5000)).toBe(2)
    expect(await asked({ labels: ['python'] })).toBe('a')
  })
}

function listingWhole(make: Make): void {
  test('returns the same records as find, page by page', async () => {
    const { journal } = await make()
    const names = Array.from({ length: 25 }, (_, i) => `t${i}`)
    for (const task of names)
      await journal.record([accepted(task, { invocation: task }), finished(task, undefined)], 'process')
    await journal.record(
      [accepted('joined'), { kind: 'joined', task: 'joined', operation: 'other', at: 1100 }],
      'process',
    )
    const seen: TaskRecord[] = []
    let cursor: string | undefined
    do {
      const { tasks, records, next } = await journal.list({ limit: 10, whole: true }, cursor)
      expect(records?.length).toBeLessThanOrEqual(10)
      expect(tasksOf(tasks)).toEqual(tasksOf(records ?? []))
      seen.push(...(records ?? []))
      cursor = next
    } while (cursor !== undefined)
    expect(tasksOf(seen)).toEqual(['joined', ...names.reverse()])
    for (const record of seen) expect(record).toEqual(await journal.find(record.operation))
    expect(tasksOf((await journal.list({ invocation: 't7', states: ['completed'], whole: true })).tasks)).toEqual([
      't7',
    ])
    await expect(journal.list({ whole: true }, 'x')).rejects.toMatchObject({ fault: { kind: 'invalid' } })
  })

  test('returns 3 MiB records one per page, and all of them', async () => {
    const { journal } = await make()
    const names = ['a', 'b', 'c', 'd', 'e']
    const spec = new Uint8Array(3 * 2 ** 20)
    for (const task of names) await journal.record([accepted(task, { spec })], 'process')
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { tasks, next } = await journal.list({ whole: true }, cursor)
      expect(tasks.length).toBeLessThanOrEqual(1)
      seen.push(...tasksOf(tasks))
      cursor = next
    } while (cursor !== undefined)
    expect(seen).toEqual(names.reverse())
  })
}

function listingPlaces(make: Make): void {
  test('returns records from each begin cursor on, and with orLeft the tasks that an operation left', async () => {
    const { journal } = await make()
    const names = ['a', 'b', 'c', 'd']
    for (const task of names) await journal.record([accepted(task)], 'process')
    await journal.record(
      [
        { kind: 'joined', task: 'b', operation: 'b too', at: 1100 },
        { kind: 'left', task: 'b', operation: 'b too', at: 1200 },
        { kind: 'joined', task: 'c', operation: 'c too', at: 1300 },
        { kind: 'left', task: 'c', operation: 'operations/c', at: 1400 },
      ],
      'process',
    )
    const { tasks, begins = [] } = await journal.list({ whole: true })
    expect(begins).toHaveLength(names.length)
    for (const [at, begin] of begins.entries()) {
      const from = await journal.list({ whole: true, limit: 2 }, begin)
      expect([from.begins?.[0], tasksOf(from.tasks)]).toEqual([begin, tasksOf(tasks).slice(at, at + 2)])
    }
    for (const whole of [true, false]) {
      const left = await journal.list({ states: ['cancelled'], orLeft: true, whole })
      expect(tasksOf(left.tasks)).toEqual(['c', 'b'])
    }
  })
}

function forgetting(make: Make): void {
  test('deletes tasks that ended before the given time, with their operations, and keeps the others', async () => {
    const { journal } = await make()
    for (const [task, at] of [
      ['old', 2000],
      ['new', 3000],
    ] as const) {
      await journal.record([accepted(task), { kind: 'joined', task, operation: `${task} too`, at: 1 }], 'process')
      await journal.record([finished(task, undefined, { at }), finished(task, 5, { at })], 'process')
    }
    await journal.record([accepted('open')], 'process')
    expect(await journal.forget(3000)).toBe(1)
    for (const name of ['operations/old', 'old too']) expect(await journal.find(name)).toBeUndefined()
    expect((await find(journal, 'new too')).superseded).toHaveLength(1)
    expect(textOf((await find(journal, 'operations/new')).result)).toBe('result of new')
    expect(tasksOf((await journal.list({})).tasks)).toEqual(['open', 'new'])
    expect(await journal.forget(3000)).toBe(0)
    await journal.record([finished('open', undefined, { at: 2000 })], 'process')
    expect(await journal.forget(3000)).toBe(1)
  })

  test('deletes 2,277 tasks while other tasks are recorded', async () => {
    const { journal } = await make()
    const tasks = Array.from({ length: 2300 }, (_, i) => `t${i}`)
    await journal.record(
      tasks.flatMap((task, i) => (i % 100 === 0 ? [accepted(task)] : [accepted(task), finished(task, undefined)])),
      'process',
    )
    const forgotten = journal.forget(2000)
    const recorded = Array.from({ length: 20 }, (_, i) => journal.record([accepted(`n${i}`, { at: 3000 })], 'process'))
    expect(await forgotten).toBe(2277)
    await Promise.all(recorded)
    expect((await journal.list({ limit: 1000 })).tasks).toHaveLength(43)
  })
}
