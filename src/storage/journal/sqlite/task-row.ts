import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { OpenTask, OperationRecord, TaskRecord, TaskSummary } from '../journal.ts'
import { finalStateOf, STATE_CODES, stateOf } from './schema.ts'

/** As SQLite has it, column by column: rows with names cost half as much again, and recovery reads them by the hundred thousand. */
export type Row = readonly SQLOutputValue[]

/** What a task's newest standing says where it has one beyond its row, and else the row. */
const standing = (column: string): string =>
  `CASE WHEN standings.key IS NULL THEN tasks.${column} ELSE standings.${column} END`

export const STATE = 'COALESCE(ends.state, standings.state, tasks.state)'

/** All that a summary needs; the bytes are read only for those who want them. */
const SUMMARY = {
  key: 'tasks.key',
  state: STATE,
  task: 'task',
  operation: 'operation',
  operationLeftAt: 'operation_left_at',
  instance: 'instance',
  invocation: 'invocation',
  origin: 'origin',
  actionKey: 'action_key',
  power: 'power',
  priority: 'priority',
  acceptedAt: 'accepted_at',
  attempt: standing('attempt'),
  worker: standing('worker'),
  leaseEpoch: standing('lease_epoch'),
  leaseCounter: standing('lease_counter'),
  leasedAt: standing('leased_at'),
  startedAt: standing('started_at'),
  cancelReason: 'cancel_reason',
  cancelAt: 'cancel_at',
  endReason: 'COALESCE(ends.reason, end_reason)',
  endedAt: 'COALESCE(ends.at, ended_at)',
}
const OPEN = {
  ...SUMMARY,
  lostWorkers: 'lost_workers',
  faults: 'faults',
  due: 'due',
  requeueReason: 'requeue_reason',
  note: 'note',
  spec: 'spec',
}
const WHOLE = { ...OPEN, result: 'COALESCE(ends.result, tasks.result)' }

const listed = (columns: Readonly<Record<string, string>>): string => Object.values(columns).join(', ')
export const SUMMARY_COLUMNS = listed(SUMMARY)
export const OPEN_COLUMNS = listed(OPEN)
export const WHOLE_COLUMNS = listed(WHOLE)

/** Where each column is: those of a summary come first, then those of an open task. */
const AT = Object.fromEntries(Object.keys(WHOLE).map((name, i) => [name, i])) as Record<keyof typeof WHOLE, number>

/** Tasks with all that lies beside their rows. */
export const TASKS = `tasks LEFT JOIN standings ON standings.key = tasks.key LEFT JOIN ends ON ends.key = tasks.key`

type Preparing = Pick<DatabaseSync, 'prepare'>

/** A statement whose rows are columns in order. */
export function rowsOf(db: Preparing, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}

type Value = SQLOutputValue | undefined

const text = (value: Value): string => (typeof value === 'string' ? value : String(value))
const maybeText = (value: Value): string | undefined => (typeof value === 'string' ? value : undefined)
const maybeNumber = (value: Value): number | undefined => (value === null ? undefined : Number(value))
const maybeBytes = (value: Value): Uint8Array | undefined => (value instanceof Uint8Array ? value : undefined)

export const keyOf = (row: Row): number => Number(row[AT.key])

export function summaryOf(row: Row): TaskSummary {
  const code = Number(row[AT.state])
  const at = maybeNumber(row[AT.cancelAt])
  const endedAt = maybeNumber(row[AT.endedAt])
  return {
    task: text(row[AT.task]),
    instance: text(row[AT.instance]),
    invocation: text(row[AT.invocation]),
    priority: Number(row[AT.priority]),
    origin: text(row[AT.origin]),
    actionKey: maybeText(row[AT.actionKey]),
    durability: row[AT.power] === 1 ? 'power' : 'process',
    acceptedAt: Number(row[AT.acceptedAt]),
    state: stateOf(code),
    attempt: Number(row[AT.attempt]),
    lease: leaseOf(row),
    cancel: at === undefined ? undefined : { reason: text(row[AT.cancelReason]), at },
    end:
      endedAt === undefined ? undefined : { state: finalStateOf(code), reason: text(row[AT.endReason]), at: endedAt },
    operation: text(row[AT.operation]),
  }
}

const leaseOf = (row: Row): TaskSummary['lease'] =>
  row[AT.worker] === null
    ? undefined
    : {
        worker: text(row[AT.worker]),
        fencing: { epoch: Number(row[AT.leaseEpoch]), counter: Number(row[AT.leaseCounter]) },
        at: Number(row[AT.leasedAt]),
        startedAt: maybeNumber(row[AT.startedAt]),
      }

/** With the rows of the operations that joined it, if any did. */
export const openTaskOf = (row: Row, joined: readonly Row[] | undefined): OpenTask => ({
  ...summaryOf(row),
  spec: maybeBytes(row[AT.spec]) as Uint8Array,
  operations: joined === undefined ? [firstOf(row)] : [firstOf(row), ...joined.map(operationOf)],
  lostWorkers: row[AT.lostWorkers] === null ? NOBODY : (JSON.parse(text(row[AT.lostWorkers])) as string[]),
  faults: Number(row[AT.faults]),
  due: row[AT.state] === STATE_CODES.retrying ? maybeNumber(row[AT.due]) : undefined,
  requeueReason: maybeText(row[AT.requeueReason]),
})

const NOBODY: readonly string[] = []

const firstOf = (row: Row): OperationRecord => ({
  name: text(row[AT.operation]),
  note: maybeBytes(row[AT.note]),
  joinedAt: Number(row[AT.acceptedAt]),
  leftAt: maybeNumber(row[AT.operationLeftAt]),
})

export const OPERATION_COLUMNS = 'task_key, name, note, joined_at, left_at'

const operationOf = ([, name, note, joinedAt, leftAt]: Row): OperationRecord => ({
  name: text(name),
  note: maybeBytes(note),
  joinedAt: Number(joinedAt),
  leftAt: maybeNumber(leftAt),
})

/** How to make a whole task of its row, over one connection. */
export function recordReader(db: Preparing): (row: Row) => TaskRecord {
  const joined = rowsOf(db, `SELECT ${OPERATION_COLUMNS} FROM operations WHERE task_key = ? ORDER BY key`)
  const late = rowsOf(
    db,
    'SELECT state, lease_epoch, lease_counter, reason, at FROM superseded WHERE task = ? ORDER BY key',
  )
  return (row) => ({
    ...openTaskOf(row, joined.all(keyOf(row)) as unknown as Row[]),
    result: maybeBytes(row[AT.result]),
    superseded: (late.all(text(row[AT.task])) as unknown as Row[]).map(([state, epoch, counter, reason, at]) => ({
      state: finalStateOf(Number(state)),
      fencing: epoch === null ? undefined : { epoch: Number(epoch), counter: Number(counter) },
      reason: text(reason),
      at: Number(at),
    })),
  })
}
