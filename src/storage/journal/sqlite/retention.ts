import type { Database } from './fact-statements.ts'

/** Tasks per transaction: few enough that it takes a few milliseconds, because other writes wait for it. */
const AT_ONCE = 500

/**
 * Deletes tasks that ended before a time, in steps of AT_ONCE tasks in the order of arrival. Ends when none of the next
 * AT_ONCE tasks was accepted before that time. One such task is enough to continue, so a clock that was set back for a
 * while does not stop retention.
 */
export function* forgetting(db: Database, before: number): Generator<number> {
  const next = db.prepare('SELECT key, accepted_at FROM tasks WHERE key > ? ORDER BY key LIMIT ?')
  const drop = db.prepare(
    `DELETE FROM tasks WHERE key > :from AND key <= :to
     AND (ended_at < :before OR EXISTS (SELECT 1 FROM ends WHERE ends.key = tasks.key AND ends.at < :before))`,
  )
  const parts = [
    ['standings', 'key'],
    ['ends', 'key'],
    ['operations', 'task_key'],
    ['words', 'key'],
  ].map(([table, key]) =>
    db.prepare(
      `DELETE FROM ${table} WHERE ${key} > ? AND ${key} <= ?
       AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.key = ${table}.${key})`,
    ),
  )
  const dropLate = db.prepare('DELETE FROM superseded WHERE at < ?')
  transact(db, () => dropLate.run(before))
  for (let from = 0; ; ) {
    const rows = next.all(from, AT_ONCE)
    if (!rows.some((row) => Number(row.accepted_at) < before)) return
    const to = Number(rows.at(-1)?.key)
    const after = from
    yield transact(db, () => {
      const { changes } = drop.run({ from: after, to, before })
      if (changes !== 0) for (const part of parts) part.run(after, to)
      return Number(changes)
    })
    from = to
  }
}

function transact<T>(db: Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const done = work()
    db.exec('COMMIT')
    return done
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
