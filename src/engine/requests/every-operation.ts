import { pageSize } from '../../storage/journal/history-page.ts'
import type { HistoryQuery, TaskRecord } from '../../storage/journal/journal.ts'
import type { EngineState } from '../state/engine-state.ts'
import type { OperationStatus } from '../tasks/status.ts'
import { liveStatus, recordedStatus } from '../tasks/status-of.ts'

/** Operations that are made ready in one loop turn. */
const AT_ONCE = 16

export interface PlacedOperation {
  readonly status: OperationStatus
  /** A page from here begins with it. */
  readonly place: string
}

export interface PlacedPage {
  readonly operations: readonly PlacedOperation[]
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined
}

/**
 * The newest task first, and of one task the newest operation. A place within a task is that of the task and how many of
 * its operations are still to come: those that join meanwhile are newer than all of them, and move none.
 */
export async function everyOperation(engine: EngineState, query: HistoryQuery, cursor?: string): Promise<PlacedPage> {
  await engine.recorder.flushStarted() // or who asks for what runs would not see what has just begun to
  const [, from = cursor, left] = PLACE.exec(cursor ?? '') ?? []
  const { records = [], begins = [], next } = await engine.journal.list({ ...query, whole: true }, from)
  const operations: PlacedOperation[] = []
  for (const [at, record] of records.entries()) {
    const begin = begins[at] ?? ''
    for (let older = begin === from ? leftOf(left, record) : record.operations.length; older > 0; older--) {
      const place = older === record.operations.length ? begin : `${begin}.${older}`
      if (operations.length === pageSize(query)) return { operations, next: place }
      operations.push({ status: statusOf(engine, record, older - 1), place })
      if (operations.length % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  return { operations, next }
}

/** What is none is for the journal to refuse. */
const PLACE = /^(\d+)(?:\.(\d{1,9}))?$/

/** Reads a cursor that a client may have forged. */
const leftOf = (text: string | undefined, { operations }: TaskRecord): number =>
  text === undefined ? operations.length : Math.min(Number(text), operations.length)

function statusOf(engine: EngineState, record: TaskRecord, at: number): OperationStatus {
  const name = record.operations[at]?.name ?? record.operation
  const live = engine.live.operations.get(name)
  return live === undefined ? recordedStatus(name, record) : liveStatus(live)
}
