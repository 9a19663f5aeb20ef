import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { OpenTask, OperationRecord, TaskRecord, TaskSummary } from '../journal.ts'
import { finalStateOf, STATE_CODES, stateOf } from './schema.ts'

export type Row = Record<string, SQLOutputValue>

/** What a task's newest standing says where it has one beyond its row, and else the row. */
const standing = (column: string): string =>
  `CASE WHEN standings.key IS NULL THEN tasks.${column} ELSE standings.${column} END AS ${column}`

export const STATE = 'COALESCE(ends.state, standings.state, tasks.state)'

/** All that a summary needs; the bytes are read only for those who want them. */
export const SUMMARY_COLUMNS = `tasks.key, ${STATE} AS state, task, operation, operation_left_at, instance, invocation,
  origin, action_key, power, priority, accepted_at, ${standing('attempt')}, ${standing('worker')},
  ${standing('lease_epoch')}, ${standing('lease_counter')}, ${standing('leased_at')}, ${standing('started_at')},
  cancel_reason, cancel_at, COALESCE(ends.reason, end_reason) AS end_reason, COALESCE(ends.at, ended_at) AS ended_at`

export const TASK_COLUMNS = `${SUMMARY_COLUMNS}, lost_workers, due, requeue_reason, note, spec`

/** Tasks with all that lies beside their rows. */
export const TASKS = `tasks LEFT JOIN standings ON standings.key = tasks.key LEFT JOIN ends ON ends.key = tasks.key`

const text = (value: SQLOutputValue | undefined): string => String(value)
const maybeText = (value: SQLOutputValue | undefined): string | undefined =>
  value === null ? undefined : String(value)
const maybeNumber = (value: SQLOutputValue | undefined): number | undefined =>
  value === null ? undefined : Number(value)
const maybeBytes = (value: SQLOutputValue | undefined): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : undefined

export function summaryOf(row: Row): TaskSummary {
  const code = Number(row.state)
  const at = maybeNumber(row.cancel_at)
  const endedAt = maybeNumber(row.ended_at)
  return {
    task: text(row.task),
    instance: text(row.instance),
    invocation: text(row.invocation),
    priority: Number(row.priority),
    origin: text(row.origin),
    actionKey: maybeText(row.action_key),
    durability: row.power === 1 ? 'power' : 'process',
    acceptedAt: Number(row.accepted_at),
    state: stateOf(code),
    attempt: Number(row.attempt),
    lease: leaseOf(row),
    cancel: at === undefined ? undefined : { reason: text(row.cancel_reason), at },
    end: endedAt === undefined ? undefined : { state: finalStateOf(code), reason: text(row.end_reason), at: endedAt },
    operation: text(row.operation),
  }
}

const leaseOf = (row: Row): TaskSummary['lease'] =>
  row.worker === null
    ? undefined
    : {
        worker: text(row.worker),
        fencing: { epoch: Number(row.lease_epoch), counter: Number(row.lease_counter) },
        at: Number(row.leased_at),
        startedAt: maybeNumber(row.started_at),
      }

/** How to read whole tasks from one connection. */
export interface TaskReader {
  open(row: Row): OpenTask
  record(row: Row): TaskRecord
}

export function taskReader(db: Pick<DatabaseSync, 'prepare'>): TaskReader {
  const joined = db.prepare('SELECT name, note, joined_at, left_at FROM operations WHERE task_key = ? ORDER BY key')
  const late = db.prepare(
    'SELECT state, lease_epoch, lease_counter, reason, at FROM superseded WHERE task = ? ORDER BY key',
  )
  const open = (row: Row): OpenTask => ({
    ...summaryOf(row),
    spec: maybeBytes(row.spec) as Uint8Array,
    operations: [firstOf(row), ...joined.all(row.key as number).map(operationOf)],
    lostWorkers: row.lost_workers === null ? [] : (JSON.parse(text(row.lost_workers)) as string[]),
    due: row.state === STATE_CODES.retrying ? maybeNumber(row.due) : undefined,
    requeueReason: maybeText(row.requeue_reason),
  })
  return {
    open,
    record: (row) => ({
      ...open(row),
      result: maybeBytes(row.result),
      superseded: late.all(text(row.task)).map((one) => ({
        state: finalStateOf(Number(one.state)),
        fencing:
          one.lease_epoch === null ? undefined : { epoch: Number(one.lease_epoch), counter: Number(one.lease_counter) },
        reason: text(one.reason),
        at: Number(one.at),
      })),
    }),
  }
}

const firstOf = (row: Row): OperationRecord => ({
  name: text(row.operation),
  note: maybeBytes(row.note),
  joinedAt: Number(row.accepted_at),
  leftAt: maybeNumber(row.operation_left_at),
})

const operationOf = (row: Row): OperationRecord => ({
  name: text(row.name),
  note: maybeBytes(row.note),
  joinedAt: Number(row.joined_at),
  leftAt: maybeNumber(row.left_at),
})
