import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { accepted, finished } from '../facts.fixture.ts'
import { databaseFile } from './open-database.ts'
import { MIGRATIONS, migrate } from './schema.ts'
import { folderForTest, openIn, PID } from './sqlite-journal.fixture.ts'

test('a second server is refused with the process id of the first, until the first has closed', async () => {
  const folder = folderForTest()
  const first = await openIn(folder)
  await expect(openIn(folder)).rejects.toThrow(`is in use by process ${PID}`)
  await first.close()
  await (await openIn(folder)).close()
})

test('a database of a newer schema is refused and left unchanged', async () => {
  const folder = folderForTest()
  await (await openIn(folder)).close()
  const db = new DatabaseSync(databaseFile(folder))
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`)
  await expect(openIn(folder)).rejects.toMatchObject({
    fault: { kind: 'unavailable', what: expect.stringContaining('newer program (its schema is') },
  })
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  db.close()
  await (await openIn(folder)).recover()
})

test('a database of the first schema is migrated, with its tasks', async () => {
  const folder = folderForTest()
  const old = new DatabaseSync(databaseFile(folder))
  migrate(old, MIGRATIONS.slice(0, 1))
  // The content that a program of the first schema wrote, as SQL, because that program no longer exists.
  old.exec(`INSERT INTO owners VALUES (1, 'this server', 41);
    INSERT INTO tasks (key, owner, epoch, state, task, operation, instance, invocation, origin, power, priority, accepted_at, attempt, spec)
      VALUES (1, 1, 41, 1, 't', 'operations/t', 'main', 'i', 'action', 0, 0, 1000, 0, x'616263')`)
  old.close()
  const journal = await openIn(folder)
  const { epoch, tasks, namesOffered } = await journal.recover()
  expect([epoch, namesOffered]).toEqual([42, []])
  expect(tasks.map(({ task, state, faults, spec }) => [task, state, faults, Buffer.from(spec).toString()])).toEqual([
    ['t', 'queued', 0, 'abc'],
  ])
  expect(await journal.record([finished('t', undefined)], 'power')).toEqual([])
})

test('each migration step runs once, in order, and atomically', () => {
  const db = new DatabaseSync(':memory:')
  const steps = [
    'CREATE TABLE a (x)',
    'INSERT INTO a VALUES (1)',
    'INSERT INTO a VALUES (2); INSERT INTO nowhere VALUES (3)',
  ]
  migrate(db, steps.slice(0, 1))
  migrate(db, steps.slice(0, 2))
  migrate(db, steps.slice(0, 2))
  expect(() => migrate(db, steps)).toThrow('nowhere')
  if (db.isTransaction) db.exec('ROLLBACK')
  expect(db.prepare('SELECT x FROM a').all()).toEqual([{ x: 1 }])
  expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 2 })
})

test('a file that is not a database is refused as damaged, and a repaired one can be opened', async () => {
  const folder = folderForTest()
  writeFileSync(databaseFile(folder), 'x'.repeat(20_000))
  await expect(openIn(folder)).rejects.toMatchObject({
    fault: { kind: 'bug', why: 'data-loss', what: expect.stringContaining('is damaged') },
  })
  writeFileSync(databaseFile(folder), '')
  const journal = await openIn(folder)
  await journal.recover()
  expect(await journal.record([accepted('t')], 'power')).toEqual([])
})

test('a process with an idle open journal exits', () => {
  const module = new URL('./sqlite-journal.ts', import.meta.url).href
  const folder = folderForTest()
  const script = join(folder, 'script.mjs')
  const source = `const { sqliteJournal } = await import(${JSON.stringify(module)})
    const journal = await sqliteJournal({ folder: ${JSON.stringify(folder)}, owner: 'o', pid: 1 })
    await journal.recover()
    await journal.find('x')
    await journal.record([], 'power')
    console.log('done')`
  writeFileSync(script, source)
  const { stdout, status } = spawnSync(process.execPath, [script], { timeout: 25_000 })
  expect([stdout.toString(), status]).toEqual(['done\n', 0])
})
