import type { TaskState } from '../model/task-state.ts'
import type { Figures } from '../scheduler/figures.ts'
import { pageSize } from '../storage/journal/history-page.ts'
import type { HistoryQuery, TaskRecord } from '../storage/journal/journal.ts'
import type { EngineState } from './engine-state.ts'
import { flushStarted } from './record.ts'
import { isDurable } from './tasks/record-state.ts'
import { recordedStatus } from './tasks/recorded-status.ts'
import type { OperationStatus } from './tasks/status.ts'
import { findStatus, liveStatus } from './watches.ts'

export interface EngineFigures extends Figures {
  /** Operations that have not ended. */
  readonly operations: number
  readonly watches: number
  /** Tasks whose facts must be written again. */
  readonly unsettled: number
  /** The error of the journal, while its writes fail. */
  readonly journalTrouble: string | undefined
}

export const figuresOf = (engine: EngineState): EngineFigures => ({
  ...engine.scheduler.figures(),
  operations: engine.live.operations.size,
  watches: engine.watchCount,
  unsettled: engine.unsettled.size,
  journalTrouble: engine.journalTrouble?.error.message,
})

/** Statuses that are built in one loop turn. */
const AT_ONCE = 16

export interface OperationPage {
  readonly operations: readonly OperationStatus[]
  /** The cursor of the next page; undefined at the end. */
  readonly next: string | undefined
}

/**
 * The maximum number of open tasks that are named to the journal: looking up each is cheaper than a scan of 10,000
 * rows.
 */
const MOST_NAMED = 256

/**
 * All open tasks are in memory. The journal has no index of the newest ones, so the engine names them if there are few.
 */
function wholeQuery({ live }: EngineState, query: HistoryQuery): HistoryQuery {
  const isOpenOnly = query.states?.every((state) => OPEN_STATES.has(state)) && !query.orLeft
  if (!isOpenOnly || live.tasks.size > MOST_NAMED) return { ...query, whole: true }
  return { ...query, whole: true, operations: Array.from(live.tasks.values(), ({ first }) => first.name) }
}

const OPEN_STATES: ReadonlySet<TaskState> = new Set([
  'pending',
  'queued',
  'assigned',
  'running',
  'stopping',
  'retrying',
])

export async function listOperations(
  engine: EngineState,
  query: HistoryQuery,
  cursor?: string,
): Promise<OperationPage> {
  await flushStarted(engine) // so that a filter for running tasks finds those that have just started
  const { records = [], next } = await engine.journal.list(wholeQuery(engine, query), cursor)
  const operations: OperationStatus[] = []
  for (const record of records) {
    const live = engine.live.operations.get(record.operation)
    operations.push(live === undefined ? recordedStatus(record.operation, record) : liveStatus(live))
    if (operations.length % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { operations, next }
}

export function* openOperations(engine: EngineState): Generator<OperationStatus> {
  for (const operation of engine.live.operations.values()) {
    const isAcknowledged = operation.record === 'durable' && isDurable(operation.task)
    if (isAcknowledged && operation.attendance !== 'over' && operation.task.record !== 'concluded')
      yield liveStatus(operation)
  }
}

export async function explain(engine: EngineState, name: string): Promise<readonly string[]> {
  const task = engine.live.operations.get(name)?.task
  if (task?.ending !== undefined && task.record !== 'concluded')
    return [`${task.ending.state}: ${task.ending.what}; its end is being recorded`]
  const reasons = task && engine.scheduler.why(task.id, engine.clock.monotonic())
  if (reasons !== undefined && reasons.length > 0) return reasons
  const status = await findStatus(engine, name)
  return status?.end === undefined ? [] : [`${status.end.state}: ${status.end.what}`]
}

export interface PlacedOperation {
  readonly status: OperationStatus
  /** The cursor of a page that begins with this operation. */
  readonly place: string
}

export interface PlacedPage {
  readonly operations: readonly PlacedOperation[]
  /** The cursor of the next page; undefined at the end. */
  readonly next: string | undefined
}

/**
 * Returns the newest task first, and the newest operation of a task first. A cursor within a task consists of the
 * cursor of the task and the number of its remaining operations. Operations that join meanwhile are newer, so they do
 * not shift the remaining ones.
 */
export async function everyOperation(engine: EngineState, query: HistoryQuery, cursor?: string): Promise<PlacedPage> {
  await flushStarted(engine) // so that a filter for running tasks finds those that have just started
  const [, from = cursor, left] = PLACE.exec(cursor ?? '') ?? []
  const { records = [], begins = [], next } = await engine.journal.list(wholeQuery(engine, query), from)
  const operations: PlacedOperation[] = []
  for (const [at, record] of records.entries()) {
    const begin = begins[at] ?? ''
    for (let older = begin === from ? leftOf(left, record) : record.operations.length; older > 0; older--) {
      const place = older === record.operations.length ? begin : `${begin}.${older}`
      if (operations.length === pageSize(query)) return { operations, next: place }
      operations.push({ status: statusAt(engine, record, older - 1), place })
      if (operations.length % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  return { operations, next }
}

/** The journal rejects a cursor of another form. */
const PLACE = /^(\d+)(?:\.(\d{1,9}))?$/

/** Parses a cursor, which a client may have forged. */
const leftOf = (text: string | undefined, { operations }: TaskRecord): number =>
  text === undefined ? operations.length : Math.min(Number(text), operations.length)

function statusAt(engine: EngineState, record: TaskRecord, at: number): OperationStatus {
  const name = record.operations[at]?.name ?? record.operation
  const live = engine.live.operations.get(name)
  return live === undefined ? recordedStatus(name, record) : liveStatus(live)
}
