import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Fault } from '../../../base/fault.ts'
import { accepted, finished, leased } from '../facts.fixture.ts'
import { FactWriter, type Outcome } from './fact-writer.ts'
import { history } from './history.ts'
import { LogSync } from './log-sync.ts'
import { databaseFile, openForWriting } from './open-database.ts'
import { takeEpoch } from './recovery.ts'
import { migrate } from './schema.ts'
import { faultOf } from './sqlite-fault.ts'
import { folderForTest, openIn } from './sqlite-journal.fixture.ts'

const large = (task: string) => accepted(task, { spec: Buffer.alloc(20_000, 1) })
const tool = (name: string, args: readonly string[]) => spawnSync(name, args)
const faultIn = (outcome: Outcome | undefined): Fault | undefined =>
  outcome !== undefined && 'error' in outcome ? faultOf(outcome.error) : undefined

test('a full database refuses facts with retryAfterMs 5000, and accepts them once it may grow', () => {
  const db = openForWriting(folderForTest())
  onTestFinished(() => db.close())
  migrate(db)
  const writer = new FactWriter(db, { by: takeEpoch(db, 'o'), open: [] })
  expect(writer.write([[accepted('kept'), leased('kept', 1)]])).toEqual([{ late: [] }])
  db.exec('PRAGMA max_page_count = 30')
  const outcomes = Array.from({ length: 30 }, (_, i) => writer.write([[large(`t${i}`)]])[0])
  const firstFull = outcomes.findIndex((outcome) => faultIn(outcome) !== undefined)
  expect(faultIn(outcomes[firstFull])).toEqual({
    kind: 'exhausted',
    resource: 'disk space for the journal',
    retryAfterMs: 5000,
    why: 'disk',
  })
  // A fact that needs no space is still accepted, and the refused task is unknown.
  expect(writer.write([[finished('kept', 1, { result: undefined })]])).toEqual([{ late: [] }])
  expect(writer.write([[finished(`t${firstFull}`, undefined, { result: undefined })]])).toMatchObject([
    { late: [`t${firstFull}`] },
  ])
  db.exec('PRAGMA max_page_count = 100000')
  expect(writer.write([[large(`t${firstFull}`)], [large('after')]])).toEqual([{ late: [] }, { late: [] }])
  const { tasks } = history(db).list({ limit: 1000 }, undefined)
  const held = outcomes.flatMap((outcome, i) => (faultIn(outcome) === undefined ? [`t${i}`] : []))
  expect(tasks.map(({ task }) => task).reverse()).toEqual(['kept', ...held, `t${firstFull}`, 'after'])
})

test('a database locked by another program is reported as unavailable, and written after the lock is released', () => {
  const folder = folderForTest()
  const db = openForWriting(folder)
  const other = new DatabaseSync(databaseFile(folder))
  onTestFinished(() => db.close())
  onTestFinished(() => other.close())
  migrate(db)
  const writer = new FactWriter(db, { by: takeEpoch(db, 'o'), open: [] })
  db.exec('PRAGMA busy_timeout = 1')
  other.exec('BEGIN IMMEDIATE')
  expect(faultIn(writer.write([[accepted('t')]])[0])).toMatchObject({
    kind: 'unavailable',
    what: expect.stringContaining('another program holds'),
  })
  other.exec('ROLLBACK')
  expect(writer.write([[accepted('t')]])).toEqual([{ late: [] }])
})

test('a full disk loses no acknowledged fact, and facts are accepted again after space is freed', async (context) => {
  const folder = folderForTest()
  const mounted = tool('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', folder])
  if (mounted.status !== 0) return context.skip('a small disk cannot be mounted here')
  onTestFinished(() => void tool('umount', ['-l', folder]))
  const home = join(folder, 'journal')
  const journal = await openIn(home)
  await journal.recover()
  const acknowledged: string[] = []
  const refusals: Fault[] = []
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(1024 * 1024))
  for (let i = 0; i < 100; i++) {
    await journal.record([large(`t${i}`)], i % 2 === 0 ? 'process' : 'power').then(
      () => acknowledged.push(`t${i}`),
      (error: { fault: Fault }) => refusals.push(error.fault),
    )
  }
  expect(refusals.length).toBeGreaterThan(0)
  for (const fault of refusals) expect(fault).toMatchObject({ kind: 'exhausted' })
  expect((await journal.list({ limit: 1000 })).tasks.map(({ task }) => task).reverse()).toEqual(acknowledged)
  rmSync(join(folder, 'ballast'))
  await journal.record([large('after')], 'power')
  await journal.close()
  const again = await openIn(home)
  expect((await again.recover()).tasks.map(({ task }) => task)).toEqual([...acknowledged, 'after'])
  await again.close()
})

test('after a failed sync, every later record with durability power fails as unavailable', async () => {
  const file = join(folderForTest(), 'log')
  const fd = openSync(file, 'w')
  const told: string[] = []
  const sync = new LogSync(fd, (upTo, fault) => told.push(`${upTo} ${fault?.kind ?? 'synced'}`))
  sync.want(1)
  sync.want(3)
  await sync.settled()
  closeSync(fd)
  sync.want(4)
  await sync.settled()
  sync.want(5)
  expect(told).toEqual(['1 synced', '3 synced', '4 unavailable', '5 unavailable'])
})
