import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Journal } from '../journal.ts'
import { sqliteJournal } from './sqlite-journal.ts'

/** The process id given to the journal. */
export const PID = 4711

/** A folder that is deleted after the test. */
export function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-journal-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A journal in that folder; it is closed after the test, also when the test fails. */
export async function openIn(folder: string): Promise<Journal> {
  const journal = await sqliteJournal({ folder, owner: 'this server', pid: PID })
  onTestFinished(() => journal.close())
  return journal
}
