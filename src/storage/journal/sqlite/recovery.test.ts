import { expect, onTestFinished, test } from 'vitest'
import { accepted, finished } from '../facts.fixture.ts'
import { FactWriter } from './fact-writer.ts'
import { openForWriting } from './open-database.ts'
import { knownIn, openPages, takeEpoch, tasksIn } from './recovery.ts'
import { forgetting } from './retention.ts'
import { migrate } from './schema.ts'
import { folderForTest } from './sqlite-journal.fixture.ts'

function database() {
  const db = openForWriting(folderForTest())
  onTestFinished(() => db.close())
  migrate(db)
  const open = (): string[] => [...openPages(db, 2)].flatMap(tasksIn).map(({ task }) => task)
  const writer = (): FactWriter => {
    const by = takeEpoch(db, 'o')
    return new FactWriter(db, { by, open: [...openPages(db, 2)].flatMap(knownIn), markDistance: 4 })
  }
  const count = (table: string): unknown => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n
  return { db, open, writer, count }
}

test('long-running tasks are recovered after 50 others ended, and only they are in the table of open tasks', () => {
  const { open, writer, count } = database()
  const first = writer()
  first.write([[accepted('slow'), accepted('slower')]])
  for (let i = 0; i < 50; i++) first.write([[accepted(`quick${i}`)], [finished(`quick${i}`, undefined)]])
  expect(open()).toEqual(['slow', 'slower'])
  expect(count('open')).toBe(2)
  const second = writer()
  second.write([[accepted('new'), finished('slow', undefined)]])
  expect(open()).toEqual(['slower', 'new'])
  expect(count('open')).toBe(1)
  writer().write([[finished('slower', undefined), finished('new', undefined)]])
  expect(open()).toEqual([])
})

test('a task submitted after older ones were evicted can be found', () => {
  const { db, open, writer, count } = database()
  const first = writer()
  for (let i = 0; i < 20; i++) first.write([[accepted(`t${i}`)], [finished(`t${i}`, undefined)]])
  first.write([[accepted('last')], [finished('last', undefined)]])
  expect([...forgetting(db, 9999)]).toEqual([21])
  for (const table of ['tasks', 'standings', 'ends', 'open', 'operations'])
    expect([table, count(table)]).toEqual([table, 0])
  writer().write([[accepted('t0')], [accepted('t1')]])
  expect(open()).toEqual(['t0', 't1'])
})

test('takeEpoch assigns unfinished tasks to the new owner, and leaves finished ones', () => {
  const { db, writer } = database()
  writer().write([[accepted('open'), accepted('over'), finished('over', undefined)]])
  const { owner, epoch } = takeEpoch(db, 'another')
  expect(db.prepare('SELECT task, owner, epoch FROM tasks ORDER BY key').all()).toEqual([
    { task: 'open', owner, epoch },
    { task: 'over', owner: 1, epoch: 1 },
  ])
  expect([owner, epoch]).toEqual([2, 2])
})
