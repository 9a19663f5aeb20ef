import type { Superseded, TaskRecord } from '../journal.ts'
import { finalStateOf } from './schema.ts'
import { AT, keyOf, OPERATION_COLUMNS, openTaskOf, type Preparing, type Row, resultIn, rowsOf } from './task-row.ts'

const AMONG = 'IN (SELECT value FROM json_each(?))'

/** Reads whole tasks from their rows, over one connection: two queries for all rows, not two for each. */
export function recordReader(db: Preparing): (rows: readonly Row[]) => TaskRecord[] {
  const joined = rowsOf(db, `SELECT ${OPERATION_COLUMNS} FROM operations WHERE task_key ${AMONG} ORDER BY key`)
  const late = rowsOf(
    db,
    `SELECT task, state, lease_epoch, lease_counter, reason, at FROM superseded WHERE task ${AMONG} ORDER BY key`,
  )
  return (rows) => {
    if (rows.length === 0) return []
    const joinedTo = byFirstColumn(joined.all(JSON.stringify(rows.map(keyOf))))
    const lateFor = byFirstColumn(late.all(JSON.stringify(rows.map((row) => row[AT.task]))))
    return rows.map((row) => ({
      ...openTaskOf(row, joinedTo.get(row[AT.key])),
      result: resultIn(row),
      superseded: lateFor.get(row[AT.task])?.map(supersededOf) ?? [],
    }))
  }
}

const byFirstColumn = (rows: unknown): Map<Row[number] | undefined, Row[]> =>
  Map.groupBy(rows as Row[], ([first]) => first)

const supersededOf = ([, state, epoch, counter, reason, at]: Row): Superseded => ({
  state: finalStateOf(Number(state)),
  fencing: epoch === null ? undefined : { epoch: Number(epoch), counter: Number(counter) },
  reason: String(reason),
  at: Number(at),
})
