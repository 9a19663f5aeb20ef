import type { OpenTask } from '../journal.ts'
import type { Database, Ownership } from './fact-statements.ts'
import type { KnownTask } from './fact-writer.ts'
import { openForReading } from './open-database.ts'
import { keyOf, lifeIn, OPEN_COLUMNS, OPERATION_COLUMNS, openTaskOf, type Row, rowsOf, TASKS } from './task-row.ts'

/** Below the mark, open tasks have a row in `open`. From the mark on, all tasks without an end are open. */
const OPEN_KEYS = `SELECT key FROM open UNION ALL
  SELECT key FROM tasks WHERE key >= (SELECT at FROM mark) AND ended_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM ends WHERE ends.key = tasks.key)`

/**
 * Starts a new epoch, greater than every earlier one in this file, and makes this server the owner of all open tasks:
 * the file has one server at a time. Rows that already have this owner are not rewritten; there may be 100,000.
 */
export function takeEpoch(db: Database, name: string): Ownership {
  db.exec('BEGIN IMMEDIATE')
  try {
    const epoch = Number(db.prepare('SELECT max(epoch) AS epoch FROM owners').get()?.epoch ?? 0) + 1
    const own = db.prepare(
      'INSERT INTO owners (name, epoch) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch RETURNING key',
    )
    const owner = Number(own.get(name, epoch)?.key)
    db.prepare(`UPDATE tasks SET owner = ?, epoch = ? WHERE key IN (${OPEN_KEYS}) AND owner <> ?`).run(
      owner,
      epoch,
      owner,
    )
    db.exec('COMMIT')
    return { owner, epoch }
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/**
 * Whether no server has ever recorded its start here, as in a database whose log was deleted before the first
 * checkpoint. A database that cannot be read is not blank: the writer reports what is wrong with it.
 */
export function isBlankJournal(folder: string): boolean {
  try {
    using db = openForReading(folder)
    const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'owners'").get()
    return table === undefined || db.prepare('SELECT 1 FROM owners').get() === undefined
  } catch {
    return false
  }
}

/** A page of open tasks as rows of SQLite. It is sent to another thread, and arrays are smaller than objects. */
export interface OpenPage {
  readonly rows: readonly Row[]
  /** Operations that joined these tasks, in the order of arrival. */
  readonly joined: readonly Row[]
}

/** Yields all open tasks in the order of arrival, `pageSize` at a time. */
export function* openPages(db: Database, pageSize: number): Generator<OpenPage> {
  const keys = (rowsOf(db, `${OPEN_KEYS} ORDER BY 1`).all() as unknown as Row[]).map(([key]) => Number(key))
  // CROSS JOIN reads the tasks in the order of the keys: ORDER BY would sort whole rows, with their specs.
  const some = 'json_each(?) AS some CROSS JOIN'
  const tasks = rowsOf(db, `SELECT ${OPEN_COLUMNS} FROM ${some} ${TASKS} WHERE tasks.key = some.value`)
  const among = 'IN (SELECT value FROM json_each(?))'
  const joined = rowsOf(db, `SELECT ${OPERATION_COLUMNS} FROM operations WHERE task_key ${among} ORDER BY key`)
  for (let from = 0; from < keys.length; from += pageSize) {
    const page = JSON.stringify(keys.slice(from, from + pageSize))
    yield { rows: tasks.all(page) as unknown as Row[], joined: joined.all(page) as unknown as Row[] }
  }
}

export function tasksIn({ rows, joined }: OpenPage): OpenTask[] {
  const byTask = Map.groupBy(joined, ([task]) => task)
  return rows.map((row) => openTaskOf(row, byTask.get(keyOf(row))))
}

export const namesOffered = (db: Database): string[] =>
  (rowsOf(db, 'SELECT name FROM names_offered').all() as unknown as Row[]).map(([name]) => String(name))

/** Returns the state that the writer keeps of open tasks. */
export const knownIn = ({ rows }: OpenPage): KnownTask[] => rows.map((row) => ({ key: keyOf(row), life: lifeIn(row) }))
