import { cpSync, statSync, truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Random, randomFrom, seedOfRun } from '../../../testing/random-source.ts'
import type { Fact, Finished } from '../fact.ts'
import { accepted, finished, leased, requeued, started } from '../facts.fixture.ts'
import type { TaskRecord } from '../journal.ts'
import { memoryJournal } from '../memory-journal.ts'
import { FactWriter } from './fact-writer.ts'
import { history } from './history.ts'
import { databaseFile, logFile, openForWriting } from './open-database.ts'
import { knownIn, openPages, takeEpoch, tasksIn } from './recovery.ts'
import { migrate } from './schema.ts'
import { folderForTest } from './sqlite-journal.fixture.ts'
import { watched } from './watched-database.fixture.ts'

const TASKS = Array.from({ length: 8 }, (_, i) => `t${i}`)
const seed = seedOfRun()

/** A random fact about a random task, valid or not. */
function anyFact(random: Random, step: number): Fact {
  const task = TASKS[random.below(TASKS.length)] as string
  const counter = 1 + random.below(4)
  const state = (['completed', 'failed', 'timeout', 'cancelled'] as const)[random.below(4)] as Finished['state']
  const facts: readonly Fact[] = [
    accepted(task, { operation: `${task} at ${step}`, at: step }),
    accepted(task, { operation: `${task} again at ${step}`, at: step, spec: random.bytes(random.below(3000)) }),
    { kind: 'joined', task, operation: `joined at ${step}`, at: step },
    { kind: 'left', task, operation: `joined at ${step - 1 - random.below(5)}`, at: step },
    { kind: 'raised', task, priority: step },
    leased(task, counter, { attempt: counter, at: step }),
    started(task, counter),
    requeued(task, { attempt: counter, lostWorkers: ['w1'], faults: counter, at: step }),
    { kind: 'cancel-asked', task, reason: 'enough', at: step },
    finished(task, random.chance(0.2) ? undefined : counter, { state, result: random.bytes(random.below(3000)) }),
  ]
  return facts[random.below(facts.length)] as Fact
}

/** Random transactions, each with several calls of several facts. */
const anyHistory = (random: Random, transactions: number): Fact[][][] => {
  let step = 10
  return Array.from({ length: transactions }, () =>
    Array.from({ length: 1 + random.below(4) }, () =>
      Array.from({ length: 1 + random.below(4) }, () => anyFact(random, ++step)),
    ),
  )
}

const plain = (task: TaskRecord | undefined): unknown => JSON.parse(JSON.stringify(task ?? null))

/** The whole content of a database as comparable text. */
function toldBy(db: DatabaseSync): string {
  const asked = history(db)
  return JSON.stringify(
    asked.list({ limit: 1000 }, undefined).tasks.map(({ operation }) => plain(asked.find(operation))),
  )
}

function toldByCopy(from: string, to: string, mostLogBytes = Number.POSITIVE_INFINITY): string {
  for (const file of [databaseFile, logFile]) cpSync(file(from), file(to), { force: true })
  if (statSync(logFile(to)).size > mostLogBytes) truncateSync(logFile(to), mostLogBytes)
  const db = new DatabaseSync(databaseFile(to))
  try {
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    const pages = [...openPages(db, 3)]
    const open = pages.flatMap(tasksIn)
    const told = toldBy(db)
    const states = (JSON.parse(told) as TaskRecord[]).filter(({ end }) => end === undefined || end === null)
    expect(open.map(({ task }) => task).sort()).toEqual(states.map(({ task }) => task).sort())
    const next = new FactWriter(db, { by: { owner: 1, epoch: 9 }, open: pages.flatMap(knownIn) })
    expect(next.write([[accepted('new')]])).toEqual([{ late: [] }])
    return told
  } finally {
    db.close()
  }
}

/** The content of an in-memory journal after the calls of each transaction. */
async function modelled(transactions: readonly (readonly (readonly Fact[])[])[]): Promise<string[]> {
  const model = memoryJournal()
  await model.recover()
  const told: string[] = ['[]']
  for (const calls of transactions) {
    for (const facts of calls) await model.record(facts, 'process').catch(() => {})
    const { tasks } = await model.list({ limit: 1000 })
    const records = await Promise.all(tasks.map(({ operation }) => model.find(operation)))
    told.push(JSON.stringify(records.map(plain)))
  }
  return told
}

function openWatched(folder: string, ran: (sql: string) => void) {
  const db = openForWriting(folder)
  onTestFinished(() => db.close())
  migrate(db)
  const by = takeEpoch(db, 'this server')
  return new FactWriter(watched(db, ran), { by, open: [], markDistance: 3 })
}

describe(`SQLite journal with random facts (WINDLASS_SEED=${seed})`, () => {
  test('a process killed between any two statements leaves each transaction whole or absent', async () => {
    const [folder, copies] = [folderForTest(), folderForTest()]
    const transactions = anyHistory(randomFrom(seed), 25)
    const told = await modelled(transactions)
    const seen: { sql: string; told: string }[] = []
    const writer = openWatched(folder, (sql) => seen.push({ sql, told: toldByCopy(folder, copies) }))
    for (const [i, calls] of transactions.entries()) {
      seen.length = 0
      writer.write(calls)
      // A transaction with a failing call is retried call by call: intermediate states lie between before and after.
      const commits = seen.filter(({ sql }) => sql === 'COMMIT').length
      if (commits <= 1) {
        for (const { sql, told: found } of seen) expect(found).toBe(told[sql === 'COMMIT' ? i + 1 : i])
      }
      expect(seen.at(-1)?.told ?? told[i]).toBe(told[i + 1])
    }
  })

  test('a write-ahead log cut at any byte restores the state after some transaction', async () => {
    const [folder, copies] = [folderForTest(), folderForTest()]
    const random = randomFrom(seed + 1)
    const transactions = anyHistory(random, 40).map((calls) => calls.slice(0, 1)) // one call: no intermediate state
    const told = await modelled(transactions)
    const writer = openWatched(folder, () => {})
    const base = statSync(logFile(folder)).size
    for (const calls of transactions) writer.write(calls)
    const size = statSync(logFile(folder)).size
    let moment = 0
    const cuts = Array.from({ length: 60 }, () => base + random.below(size - base)).sort((one, other) => one - other)
    for (const cut of cuts) {
      // A state may occur twice in the history: a longer log restores the same or a later transaction.
      const at = told.indexOf(toldByCopy(folder, copies, cut), moment)
      expect(at, `cut at ${cut} of ${size}, after moment ${moment}`).toBeGreaterThanOrEqual(moment)
      moment = at
    }
    expect(toldByCopy(folder, copies)).toBe(told.at(-1))
  })
})

test('a task that ends in its first transaction is one INSERT, and its row is never written again', () => {
  const ran: string[] = []
  const writer = openWatched(folderForTest(), (sql) => ran.push(sql.trim().split(/\s+/).slice(0, 3).join(' ')))
  writer.write([[accepted('a'), leased('a', 1)], [started('a', 1)], [finished('a', 1)]])
  expect(ran.splice(0)).toEqual(['BEGIN IMMEDIATE', 'INSERT INTO tasks', 'COMMIT'])
  for (const fact of [accepted('b'), leased('b', 2), finished('b', 2)]) writer.write([[fact]])
  expect(ran.filter((sql) => !/^(BEGIN|COMMIT)/.test(sql))).toEqual([
    'INSERT INTO tasks',
    'INSERT OR REPLACE',
    'INSERT INTO ends',
  ])
})
