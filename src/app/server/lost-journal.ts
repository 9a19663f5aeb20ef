import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import { databaseFile } from '../../storage/journal/sqlite/open-database.ts'
import { isBlankJournal } from '../../storage/journal/sqlite/recovery.ts'

export interface JournalPlace {
  readonly data_dir: string
  readonly start_without_journal: boolean
}

/** Created by the grid at its first start, after its journal. */
const MADE_BY_GRID = ['submissions', 'callbacks']

/**
 * Refuses to start when tasks were recorded and the journal is missing or empty: a start would create a new journal and
 * lose all accepted tasks. Throws `unavailable`.
 */
export function mustBeThere({ data_dir, start_without_journal }: JournalPlace): void {
  const folder = join(data_dir, 'journal')
  const [file, bytes] = [databaseFile(folder), bytesIn(databaseFile(folder))]
  const traces = MADE_BY_GRID.filter((name) => existsSync(join(data_dir, name)))
  if (traces.length === 0 || start_without_journal) return
  // SQLite deletes the log beside a database of 0 bytes, so the log restores nothing.
  if (bytes !== undefined && bytes > 0 && !isBlankJournal(folder)) return
  const how = bytes === undefined ? 'is missing' : 'is empty'
  const what = `the journal ${file} ${how}, but a server has used ${data_dir} before (${traces.join(', ')}): a start would forget the tasks that it accepted. Restore the file, or confirm the loss with --start-without-journal`
  throw new FaultError({ kind: 'unavailable', what })
}

const bytesIn = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size
