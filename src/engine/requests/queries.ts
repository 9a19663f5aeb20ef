import type { Figures } from '../../scheduler/figures.ts'
import type { HistoryQuery } from '../../storage/journal/journal.ts'
import type { EngineState } from '../state/engine-state.ts'
import { type OutputListener, OutputRing } from '../tasks/output-ring.ts'
import { isDurable } from '../tasks/record-state.ts'
import type { OperationStatus } from '../tasks/status.ts'
import { liveStatus, recordedStatus } from '../tasks/status-of.ts'

export interface EngineFigures extends Figures {
  /** Operations that are not over. */
  readonly operations: number
  readonly watches: number
  /** Tasks whose facts the journal has not taken yet. */
  readonly unsettled: number
  /** Why the journal takes no facts at present. */
  readonly journalTrouble: string | undefined
}

export const figuresOf = (engine: EngineState): EngineFigures => ({
  ...engine.scheduler.figures(),
  operations: engine.live.operations.size,
  watches: engine.watches.count,
  unsettled: engine.repair.size,
  journalTrouble: engine.repair.trouble?.error.message,
})

export async function find(engine: EngineState, name: string): Promise<OperationStatus | undefined> {
  const operation = engine.live.operations.get(name)
  if (operation !== undefined) return liveStatus(operation)
  const record = await engine.journal.find(name)
  return record && recordedStatus(name, record)
}

/** Operations that are made ready in one loop turn. */
const AT_ONCE = 16

export interface OperationPage {
  readonly operations: readonly OperationStatus[]
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined
}

export async function listOperations(
  engine: EngineState,
  query: HistoryQuery,
  cursor?: string,
): Promise<OperationPage> {
  await engine.recorder.flushStarted() // or who asks for what runs would not see what has just begun to
  const { records = [], next } = await engine.journal.list({ ...query, whole: true }, cursor)
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
    return [`${task.ending.state}: ${task.ending.what}; it is being recorded`]
  const reasons = task && engine.scheduler.why(task.id, engine.clock.monotonic())
  if (reasons !== undefined && reasons.length > 0) return reasons
  const status = await find(engine, name)
  return status?.end === undefined ? [] : [`${status.end.state}: ${status.end.what}`]
}

export function listenOutput(engine: EngineState, name: string, wake: () => void): OutputListener | undefined {
  const task = engine.live.operations.get(name)?.task
  if (task === undefined || task.record === 'concluded') return undefined
  task.output ??= new OutputRing(engine.limits.outputBytes)
  return task.output.listen(wake)
}
