/**
 * The server dies after any number of journal writes. After a restart no acknowledged task is missing, each state is
 * one that the task's table allows, and no watcher gets two different ends.
 */

import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import { TASK_MOVES } from '../scheduler/model/task-machine.ts'
import type { Journal } from '../storage/journal/journal.ts'
import { type MemoryRecords, memoryJournal, memoryRecords } from '../storage/journal/memory-journal.ts'
import { type FakeWorker, fakeWorker, type Grid, LINUX, openGrid, text, turns } from './grid.fixture.ts'
import type { ResultCache } from './tasks/ports.ts'

/** After `after` records nothing is written or acknowledged; the last one may be written and not acknowledged. */
function dying(records: MemoryRecords, { after, lastIsAnswered }: { after: number; lastIsAnswered: boolean }) {
  const inner = memoryJournal(records)
  const never = new Promise<never>(() => {})
  let written = 0
  const journal: Journal = {
    ...inner,
    record(facts, durability) {
      if (written >= after) return never
      written++
      const answer = inner.record(facts, durability)
      return written < after || lastIsAnswered ? answer : never
    },
  }
  return { journal, isDead: () => written >= after, written: () => written }
}

interface Told {
  readonly acknowledged: string[]
  readonly ends: Map<string, Set<string>>
}

const followed = async (grid: Grid, told: Told, operation: string): Promise<void> => {
  grid.engine.watch(LOCAL_CALLER, operation, {
    notify({ end }) {
      if (end === undefined) return
      const ends = told.ends.get(operation) ?? new Set()
      told.ends.set(operation, ends.add(`${end.state} ${text(end.result)}`))
    },
    failed() {},
  })
}

/** Tasks that are merged, run, retried, cancelled while queued and cancelled while running. */
async function wholeLives(grid: Grid, told: Told): Promise<FakeWorker> {
  const worker = grid.worker('w1', { slots: 2 })
  const submit = (rest: Parameters<typeof grid.submit>[0]) => {
    void grid.submit(rest).then(
      ({ operation }) => {
        told.acknowledged.push(operation)
        void followed(grid, told, operation)
      },
      () => {},
    )
  }
  const same = { actionKey: 'k', cacheable: true }
  for (const rest of [same, { mayStartEarly: false }, same, { durability: 'power' as const }, {}]) submit(rest)
  await turns()
  for (const lease of worker.leases) worker.start(lease)
  await turns()
  const cancel = (at: number) => {
    const name = told.acknowledged[at]
    if (name !== undefined) void grid.engine.cancel(LOCAL_CALLER, name).catch(() => {})
  }
  cancel(0) // one of two merged operations
  cancel(4) // a queued one
  await turns()
  void worker.finish(worker.leases[0])
  await turns()
  if (worker.leases[0]) void worker.finish(worker.leases[0], { outcome: { kind: 'fault', what: 'no disk' } })
  await turns()
  await grid.after(1100)
  cancel(1) // a running one
  await turns()
  while (worker.leases[0]) void worker.finish(worker.leases[0])
  await turns()
  return worker
}

async function recordsOfAWholeLife(): Promise<number> {
  const told: Told = { acknowledged: [], ends: new Map() }
  const { journal, written } = dying(memoryRecords(), { after: 1e9, lastIsAnswered: true })
  await wholeLives(await openGrid(journal), told)
  expect(told.acknowledged).toHaveLength(5)
  expect(told.ends.size).toBe(5)
  return written()
}

describe('server killed between two journal writes', () => {
  test.each([true, false])(
    'no acknowledged task is lost, and each gets one end (last write acknowledged: %s)',
    async (lastIsAnswered) => {
      const most = await recordsOfAWholeLife()
      expect(most).toBeGreaterThan(10)
      for (let after = 0; after <= most; after++) {
        const records = memoryRecords()
        const told: Told = { acknowledged: [], ends: new Map() }
        const first = dying(records, { after, lastIsAnswered })
        const before = await openGrid(first.journal)
        const worker = await wholeLives(before, told)
        await comeBack(records, told, { worker, clockOf: before })
        for (const [operation, ends] of told.ends) expect([...ends], `${operation} after ${after}`).toHaveLength(1)
        for (const operation of told.acknowledged)
          expect(told.ends.has(operation), `${operation} after ${after}`).toBe(true)
      }
    },
  )
})

/** A cache that stores a result late, and never after the server died. */
function dyingCache(isDead: () => boolean) {
  const kept = new Map<string, Uint8Array>()
  const results: ResultCache = {
    get: async (_, actionKey) => kept.get(actionKey),
    async put(_, actionKey, result) {
      await turns(1)
      if (!isDead()) kept.set(actionKey, result)
    },
  }
  return { kept, results }
}

test('a recorded result is in the cache, after whichever journal write the server was killed', async () => {
  const most = await recordsOfAWholeLife()
  let found = 0
  for (let after = 0; after <= most; after++) {
    const records = memoryRecords()
    const first = dying(records, { after, lastIsAnswered: true })
    const { kept, results } = dyingCache(first.isDead)
    await wholeLives(await openGrid(first.journal, { results }), { acknowledged: [], ends: new Map() })
    const { tasks } = await memoryJournal(records).list({ states: ['completed'] })
    for (const { actionKey } of tasks) {
      if (actionKey === undefined) continue
      expect(text(kept.get(actionKey)), `after ${after}`).toMatch(/^result of /)
      found++
    }
  }
  expect(found).toBeGreaterThan(1)
})

async function comeBack(
  records: MemoryRecords,
  told: Told,
  { worker, clockOf }: { worker: FakeWorker; clockOf: Grid },
) {
  const open = (await memoryJournal(records).recover()).tasks
  for (const task of open) {
    expect(Object.keys(TASK_MOVES[task.state]).length, 'an open task is in no final state').toBeGreaterThan(0)
    expect(task.lease === undefined, `${task.state} with or without a lease`).toBe(
      task.state === 'queued' || task.state === 'retrying',
    )
  }
  const after = await openGrid(memoryJournal(records), { clock: clockOf.clock })
  for (const operation of told.acknowledged) {
    expect(await after.engine.find(LOCAL_CALLER, operation), operation).toBeDefined()
    await followed(after, told, operation)
  }
  const running = worker.leases.map(({ attemptId }) => attemptId)
  const again = fakeWorker(after.engine, { worker: 'w1', slots: 2, properties: LINUX, running })
  for (const lease of worker.leases) void again.finish(lease)
  for (let i = 0; i < 10; i++) {
    while (again.leases[0]) void again.finish(again.leases[0])
    await after.after(6000)
    again.heartbeat()
  }
}
