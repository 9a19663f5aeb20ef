import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { OpenTask, OperationRecord, TaskSummary } from '../journal.ts'
import { beginLife, type TaskLife } from '../task-life.ts'
import { finalStateOf, STATE_CODES, stateOf } from './schema.ts'

/**
 * A row as an array of columns. Rows as objects cost one and a half times as much, and recovery reads 100,000 of them.
 */
export type Row = readonly SQLOutputValue[]

/** The column of the newest standing if there is one, otherwise that of the task's row. */
const standing = (column: string): string =>
  `CASE WHEN standings.key IS NULL THEN tasks.${column} ELSE standings.${column} END`

export const STATE = 'COALESCE(ends.state, standings.state, tasks.state)'

/** The columns of a summary. Specs and results are read only for whole records. */
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

/** The index of each column: those of a summary are first, then those of an open task. */
export const AT = Object.fromEntries(Object.keys(WHOLE).map((name, i) => [name, i])) as Record<
  keyof typeof WHOLE,
  number
>

/** Tasks joined with their standings and ends. */
export const TASKS = `tasks LEFT JOIN standings ON standings.key = tasks.key LEFT JOIN ends ON ends.key = tasks.key`

export type Preparing = Pick<DatabaseSync, 'prepare'>

/** Prepares a statement whose rows are arrays. */
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
    cancel: cancelOf(row),
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

const cancelOf = (row: Row): TaskSummary['cancel'] => {
  const at = maybeNumber(row[AT.cancelAt])
  return at === undefined ? undefined : { reason: text(row[AT.cancelReason]), at }
}

const lostWorkersOf = (row: Row): readonly string[] =>
  row[AT.lostWorkers] === null ? NO_WORKERS : (JSON.parse(text(row[AT.lostWorkers])) as string[])

const dueOf = (row: Row): number | undefined =>
  row[AT.state] === STATE_CODES.retrying ? maybeNumber(row[AT.due]) : undefined

/** Returns the state of an open task. */
export function lifeIn(row: Row): TaskLife {
  const life = beginLife({ task: text(row[AT.task]), priority: Number(row[AT.priority]) })
  life.state = stateOf(Number(row[AT.state]))
  life.attempt = Number(row[AT.attempt])
  life.lease = leaseOf(row)
  life.lostWorkers = lostWorkersOf(row)
  life.faults = Number(row[AT.faults])
  life.due = dueOf(row)
  life.requeueReason = maybeText(row[AT.requeueReason])
  life.cancel = cancelOf(row)
  return life
}

/** `joined` are the rows of the operations that joined the task. */
export const openTaskOf = (row: Row, joined: readonly Row[] | undefined): OpenTask => ({
  ...summaryOf(row),
  spec: maybeBytes(row[AT.spec]) as Uint8Array,
  operations: joined === undefined ? [firstOf(row)] : [firstOf(row), ...joined.map(operationOf)],
  lostWorkers: lostWorkersOf(row),
  faults: Number(row[AT.faults]),
  due: dueOf(row),
  requeueReason: maybeText(row[AT.requeueReason]),
})

const NO_WORKERS: readonly string[] = []

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

export const resultIn = (row: Row): Uint8Array | undefined => maybeBytes(row[AT.result])

/** The bytes of a whole row that count towards the page limit. */
export const bytesIn = (row: Row): number => (maybeBytes(row[AT.spec])?.length ?? 0) + (resultIn(row)?.length ?? 0)
