import type { OpenTask } from '../journal.ts'
import type { TaskLife } from '../task-life.ts'
import type { Database, Ownership } from './fact-statements.ts'
import type { KnownTask } from './fact-writer.ts'
import { keyOf, OPEN_COLUMNS, OPERATION_COLUMNS, openTaskOf, type Row, rowsOf, TASKS } from './task-row.ts'

/** Below the mark they are written down; from there on, all that have no end are open. */
const OPEN_KEYS = `SELECT key FROM open UNION ALL
  SELECT key FROM tasks WHERE key >= (SELECT at FROM mark) AND ended_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM ends WHERE ends.key = tasks.key)`

/**
 * Draws a new epoch, greater than every earlier one in this file, and makes this owner the owner of all open tasks: the
 * file has one server at a time. Rows that already name this owner are not rewritten; there may be a hundred thousand.
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

/** Some open tasks as SQLite has them: they go to another thread, and columns in order are the least to carry. */
export interface OpenPage {
  readonly rows: readonly Row[]
  /** Operations that joined them, each after those that came before it. */
  readonly joined: readonly Row[]
}

/** All open tasks in the order of their arrival, some at a time. */
export function* openPages(db: Database, pageSize: number): Generator<OpenPage> {
  const keys = (rowsOf(db, `${OPEN_KEYS} ORDER BY 1`).all() as unknown as Row[]).map(([key]) => Number(key))
  const among = 'IN (SELECT value FROM json_each(?))'
  const tasks = rowsOf(db, `SELECT ${OPEN_COLUMNS} FROM ${TASKS} WHERE tasks.key ${among} ORDER BY tasks.key`)
  const joined = rowsOf(db, `SELECT ${OPERATION_COLUMNS} FROM operations WHERE task_key ${among} ORDER BY key`)
  for (let from = 0; from < keys.length; from += pageSize) {
    const some = JSON.stringify(keys.slice(from, from + pageSize))
    yield { rows: tasks.all(some) as unknown as Row[], joined: joined.all(some) as unknown as Row[] }
  }
}

export function tasksIn({ rows, joined }: OpenPage): OpenTask[] {
  const byTask = Map.groupBy(joined, ([task]) => task)
  return rows.map((row) => openTaskOf(row, byTask.get(keyOf(row))))
}

export const namesOffered = (db: Database): string[] =>
  (rowsOf(db, 'SELECT name FROM names_offered').all() as unknown as Row[]).map(([name]) => String(name))

/** What the writer needs to know of tasks that were open already. */
export const knownIn = (page: OpenPage): KnownTask[] =>
  tasksIn(page).map((task, i) => ({ key: keyOf(page.rows[i] as Row), life: lifeOf(task) }))

const lifeOf = (task: OpenTask): TaskLife => ({
  task: task.task,
  acceptedAt: task.acceptedAt,
  state: task.state,
  priority: task.priority,
  attempt: task.attempt,
  lease: task.lease,
  lostWorkers: task.lostWorkers,
  faults: task.faults,
  due: task.due,
  requeueReason: task.requeueReason,
  cancel: task.cancel,
  end: undefined,
  result: undefined,
})
