/** How much of a task the journal has acknowledged. */
export type RecordState =
  /** No fact of the task was passed to the journal. */
  | 'unrecorded'
  /** The acceptance was passed to the journal, which has not acknowledged it yet. */
  | 'recorded'
  /** The journal has acknowledged the acceptance. */
  | 'durable'
  /** A later write failed while the acceptance was not acknowledged yet. */
  | 'unconfirmed'
  /** The acceptance is acknowledged and a later write failed: the facts are written again when the journal works. */
  | 'unsettled'
  /** The journal has acknowledged the end, but not the acceptance: calls may complete in any order. */
  | 'ended'
  /** Acceptance and end are acknowledged: all callers are notified. */
  | 'concluded'
  /** The journal rejected the acceptance: the task never existed for its callers. */
  | 'refused'
  /** The journal holds another end of the task, which another server recorded. */
  | 'superseded'

export type RecordMove = 'write' | 'acknowledge' | 'acknowledgeEnd' | 'fail' | 'retry' | 'refuse' | 'supersede'

/** All states and every transition. A transition that is not listed is a bug. */
export const RECORD_MOVES: Readonly<Record<RecordState, Readonly<Partial<Record<RecordMove, RecordState>>>>> = {
  unrecorded: { write: 'recorded' },
  recorded: {
    acknowledge: 'durable',
    acknowledgeEnd: 'ended',
    fail: 'unconfirmed',
    refuse: 'refused',
    supersede: 'superseded',
  },
  unconfirmed: {
    acknowledge: 'unsettled',
    acknowledgeEnd: 'ended',
    fail: 'unconfirmed',
    retry: 'recorded',
    refuse: 'refused',
    supersede: 'superseded',
  },
  durable: { acknowledgeEnd: 'concluded', fail: 'unsettled', supersede: 'superseded' },
  unsettled: { acknowledgeEnd: 'concluded', fail: 'unsettled', retry: 'durable', supersede: 'superseded' },
  ended: { acknowledge: 'concluded', refuse: 'refused' },
  concluded: {},
  refused: {},
  superseded: {},
}

export interface HasRecord {
  record: RecordState
}

export const canMoveRecord = (task: HasRecord, move: RecordMove): boolean =>
  RECORD_MOVES[task.record][move] !== undefined

export function moveRecord(task: HasRecord, move: RecordMove): void {
  const next = RECORD_MOVES[task.record][move]
  if (next === undefined) throw new Error(`record state ${task.record} has no transition ${move}`)
  task.record = next
}

/** The acceptance is acknowledged, so callers may learn of the task and a worker may start it. */
export const isDurable = ({ record }: HasRecord): boolean =>
  record === 'durable' || record === 'unsettled' || record === 'concluded'

/** A write failed and has not been repeated. */
export const isUnsettled = ({ record }: HasRecord): boolean => record === 'unsettled' || record === 'unconfirmed'

/** The task accepts no more writes: its end is acknowledged, or the journal rejected it. */
export const isClosed = ({ record }: HasRecord): boolean =>
  record === 'concluded' || record === 'ended' || record === 'refused' || record === 'superseded'

/** Whether an operation still counts as a reference to its task. */
export type Attendance =
  | 'waiting'
  /** No client watched the operation for the grace time; a watch makes it count again. */
  | 'lapsed'
  /** The caller cancelled it. */
  | 'cancelled'
  /** It was cancelled, the journal has acknowledged that, and its task continues for other operations. */
  | 'over'

export type AttendanceMove = 'lapse' | 'rejoin' | 'cancel' | 'confirm'

export const ATTENDANCE_MOVES: Readonly<Record<Attendance, Readonly<Partial<Record<AttendanceMove, Attendance>>>>> = {
  waiting: { lapse: 'lapsed', cancel: 'cancelled' },
  lapsed: { rejoin: 'waiting', cancel: 'cancelled' },
  cancelled: { confirm: 'over' },
  over: {},
}

export interface HasAttendance {
  attendance: Attendance
}

export function moveAttendance(operation: HasAttendance, move: AttendanceMove): void {
  const next = ATTENDANCE_MOVES[operation.attendance][move]
  if (next === undefined) throw new Error(`an operation that is ${operation.attendance} has no transition ${move}`)
  operation.attendance = next
}

export const isCancelled = ({ attendance }: HasAttendance): boolean =>
  attendance === 'cancelled' || attendance === 'over'
