import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import { databaseFile, logFile } from '../../storage/journal/sqlite/open-database.ts'

export interface JournalPlace {
  readonly data_dir: string
  readonly start_without_journal: boolean
}

/** Created by the grid at its first start, after its journal. */
const MADE_BY_GRID = ['submissions', 'callbacks']

/**
 * Refuses to start when tasks were recorded and the journal is missing or empty: a start would create a new one and
 * lose all accepted tasks. Throws `unavailable`.
 */
export function mustBeThere({ data_dir, start_without_journal }: JournalPlace): void {
  const folder = join(data_dir, 'journal')
  const [file, bytes] = [databaseFile(folder), bytesIn(databaseFile(folder))]
  const isLost = bytes === undefined || (bytes === 0 && (bytesIn(logFile(folder)) ?? 0) === 0)
  const traces = MADE_BY_GRID.filter((name) => existsSync(join(data_dir, name)))
  if (!isLost || traces.length === 0 || start_without_journal) return
  const how = bytes === undefined ? 'is missing' : 'is empty'
  const what = `the journal ${file} ${how}, but a server has used ${data_dir} before (${traces.join(', ')}): a start would forget the tasks that it accepted. Restore the file, or confirm the loss with --start-without-journal`
  throw new FaultError({ kind: 'unavailable', what })
}

const bytesIn = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size
