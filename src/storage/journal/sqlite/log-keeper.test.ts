import { statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { accepted } from '../facts.fixture.ts'
import { FactWriter } from './fact-writer.ts'
import { history } from './history.ts'
import { LogKeeper } from './log-keeper.ts'
import { logFile, openForReading, openForWriting } from './open-database.ts'
import { takeEpoch } from './recovery.ts'
import { migrate } from './schema.ts'
import { folderForTest } from './sqlite-journal.fixture.ts'

const KiB = 1024

test('the write-ahead log of a continuous writer stays under 6,000 KiB, and no fact is lost', async () => {
  const folder = folderForTest()
  const db = openForWriting(folder)
  onTestFinished(() => db.close())
  migrate(db)
  const keeper = new LogKeeper(db, { folder, owner: 'o' }, { grownBytes: 500 * KiB, mostFrames: 200 })
  onTestFinished(() => keeper.close())
  const writer = new FactWriter(db, { by: takeEpoch(db, 'o'), open: [] })
  let longest = 0
  for (let i = 0; i < 400; i++) {
    writer.write([[accepted(`t${i}`, { spec: Buffer.alloc(40 * KiB, i) })]])
    keeper.wrote(50 * KiB)
    // Every 7th write does not wait, so that a checkpoint ends while the writer is ahead of it.
    if (i % 7 !== 0) await keeper.settled()
    longest = Math.max(longest, statSync(logFile(folder)).size)
  }
  expect(longest).toBeLessThan(6000 * KiB)
  const reading = openForReading(folder)
  const asked = history(reading)
  for (let i = 0; i < 400; i++) expect(asked.find(`operations/t${i}`)?.spec[0]).toBe(i % 256)
  reading.close()
})
