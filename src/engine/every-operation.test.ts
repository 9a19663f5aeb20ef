import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import type { Engine } from './engine.ts'
import { openGrid, turns } from './grid.fixture.ts'

/** The operations of all pages, in order. */
async function everyName(engine: Engine, limit: number): Promise<string[]> {
  const names: string[] = []
  let cursor: string | undefined
  do {
    const { operations, next } = await engine.everyOperation(LOCAL_CALLER, { limit }, cursor)
    expect(operations.length).toBeLessThanOrEqual(limit)
    names.push(...operations.map(({ status }) => status.operation))
    cursor = next
  } while (cursor !== undefined)
  return names
}

test('every merged operation is listed, newest first, before and after a restart', async () => {
  const journal = memoryJournal()
  const grid = await openGrid(journal)
  const worker = grid.worker('w1', { slots: 10 })
  const same = { cacheable: true, actionKey: 'k1' }
  const before = [(await grid.submit()).operation]
  for (let i = 0; i < 7; i++) before.push((await grid.submit(same)).operation)
  before.push((await grid.submit()).operation)
  expect(worker.leases).toHaveLength(3)
  const newestFirst = before.toReversed()
  for (const limit of [1, 2, 3, 100]) expect(await everyName(grid.engine, limit)).toEqual(newestFirst)

  const { operations } = await grid.engine.everyOperation(LOCAL_CALLER, {})
  for (const [at, { status, place }] of operations.entries()) {
    expect(status).toEqual(await grid.engine.find(LOCAL_CALLER, status.operation))
    const [first] = (await grid.engine.everyOperation(LOCAL_CALLER, { limit: 1 }, place)).operations
    expect(first?.status.operation).toBe(newestFirst[at])
  }
  while (worker.leases.length > 0) void worker.finish()
  await turns()
  await grid.engine.close()
  const after = await openGrid(journal)
  for (const limit of [1, 4, 100]) expect(await everyName(after.engine, limit)).toEqual(newestFirst)
})

test('an operation that joins between two pages neither repeats nor hides another operation', async () => {
  const grid = await openGrid(memoryJournal())
  grid.worker('w1')
  const same = { cacheable: true, actionKey: 'k1' }
  const names: string[] = []
  for (let i = 0; i < 4; i++) names.unshift((await grid.submit(same)).operation)
  const page = await grid.engine.everyOperation(LOCAL_CALLER, { limit: 2 })
  await grid.submit(same)
  const rest = await grid.engine.everyOperation(LOCAL_CALLER, { limit: 9 }, page.next)
  expect([...page.operations, ...rest.operations].map(({ status }) => status.operation)).toEqual(names)
})

test.each(['x', '1.x', '-1', '1.99999999999', '.', '3.0', '9e9'])(
  'everyOperation with the cursor %j returns operations or fails as invalid',
  async (cursor) => {
    const grid = await openGrid(memoryJournal())
    await grid.submit()
    const asked = grid.engine.everyOperation(LOCAL_CALLER, {}, cursor)
    await asked.then(
      ({ operations }) => expect(operations.length).toBeLessThanOrEqual(1),
      (error: unknown) => expect(error).toMatchObject({ fault: { kind: 'invalid' } }),
    )
  },
)

test('an attempt counts as started when its worker reports the start or a result', async () => {
  const journal = memoryJournal()
  const grid = await openGrid(journal)
  const { operation } = await grid.submit()
  const starts = async () => (await grid.engine.find(LOCAL_CALLER, operation))?.starts
  const first = grid.worker('w1')
  expect([first.leases.length, await starts()]).toEqual([1, 0])
  grid.engine.workers.unregister('w1') // it unregisters before the start
  expect(await starts()).toBe(0)
  const second = grid.worker('w2')
  second.start()
  expect(await starts()).toBe(1)
  await second.finish(undefined, { outcome: { kind: 'fault', what: 'no space' } })
  await grid.after(60_000)
  expect([second.leases.length, await starts()]).toEqual([1, 1])
  await second.finish()
  await turns()
  expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ attempt: 3, starts: 2, state: 'completed' })
  await grid.engine.close()
  const after = await openGrid(journal)
  expect(await after.engine.find(LOCAL_CALLER, operation)).toMatchObject({ attempt: 3, starts: 2 })
})
