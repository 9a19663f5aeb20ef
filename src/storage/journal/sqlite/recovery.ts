import type { OpenTask } from '../journal.ts'
import type { Database, Ownership } from './fact-statements.ts'
import type { KnownTask } from './fact-writer.ts'
import { type Row, TASK_COLUMNS, TASKS, taskReader } from './task-row.ts'

/** A task that is open, under its key. */
export type KeyedTask = OpenTask & { readonly key: number }

/** Below the mark they are written down; from there on, all that have no end are open. */
const OPEN_KEYS = `SELECT key FROM open UNION ALL
  SELECT key FROM tasks WHERE key >= (SELECT at FROM mark) AND ended_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM ends WHERE ends.key = tasks.key)`

/**
 * A new epoch, greater than all that anyone ever had here; what is open is this owner's from now on, whoever had it
 * before: the file has one server at a time.
 */
export function takeEpoch(db: Database, name: string): Ownership {
  db.exec('BEGIN IMMEDIATE')
  try {
    const epoch = Number(db.prepare('SELECT max(epoch) AS epoch FROM owners').get()?.epoch ?? 0) + 1
    const own = db.prepare(
      'INSERT INTO owners (name, epoch) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch RETURNING key',
    )
    const owner = Number(own.get(name, epoch)?.key)
    db.prepare(`UPDATE tasks SET owner = ?, epoch = ? WHERE key IN (${OPEN_KEYS})`).run(owner, epoch)
    db.exec('COMMIT')
    return { owner, epoch }
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** All open tasks in the order of their arrival, some at a time. */
export function* openTasks(db: Database, pageSize: number): Generator<readonly KeyedTask[]> {
  const reader = taskReader(db)
  const one = db.prepare(`SELECT ${TASK_COLUMNS} FROM ${TASKS} WHERE tasks.key = ?`)
  const keys = db.prepare(`${OPEN_KEYS} ORDER BY 1`).all()
  for (let from = 0; from < keys.length; from += pageSize) {
    yield keys.slice(from, from + pageSize).map(({ key }) => {
      return { ...reader.open(one.get(Number(key)) as Row), key: Number(key) }
    })
  }
}

/** What the writer needs to know of a task that was open already. */
export const knownFrom = ({ key, task, ...rest }: KeyedTask): KnownTask => ({
  key,
  life: {
    task,
    acceptedAt: rest.acceptedAt,
    state: rest.state,
    priority: rest.priority,
    attempt: rest.attempt,
    lease: rest.lease,
    lostWorkers: rest.lostWorkers,
    due: rest.due,
    requeueReason: rest.requeueReason,
    cancel: rest.cancel,
    end: undefined,
    result: undefined,
  },
})
