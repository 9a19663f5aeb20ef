/** Makes a long history from a short one: a million tasks through the service would take minutes. */
import { DatabaseSync } from 'node:sqlite'
import { databaseFile } from '../../src/storage/journal/sqlite/open-database.ts'

/** The tables of a task, and the column with its key. */
const TABLES = { tasks: 'key', standings: 'key', ends: 'key', words: 'key' } as const
/** Columns with unique values. */
const NAMES = ['task', 'operation']

/** Copies the rows of all tasks until there are this many. The journal must be closed, and its tasks must have ended. */
export function multiplyTasks(folder: string, tasks: number): void {
  using db = new DatabaseSync(databaseFile(folder))
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN')
  const filled = Number(db.prepare('SELECT max(key) AS key FROM tasks').get()?.key)
  for (let by = filled; by < tasks; by += filled)
    for (const [table, key] of Object.entries(TABLES)) copyRows(db, { table, key, filled, by, most: tasks - by })
  db.prepare('UPDATE mark SET at = ?').run(tasks - 32_768)
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
}

interface Copy {
  readonly table: string
  readonly key: string
  /** The tasks with keys up to this one are copied. */
  readonly filled: number
  readonly by: number
  readonly most: number
}

function copyRows(db: DatabaseSync, { table, key, filled, by, most }: Copy): void {
  const columns = db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name))
  const values = columns.map((name) => {
    if (name === key) return `${key} + ${by}`
    return NAMES.includes(name) ? `${name} || '-${by}'` : name
  })
  const last = Math.min(filled, most)
  db.exec(`INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${table} WHERE ${key} <= ${last}`)
}
