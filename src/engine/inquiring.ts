import type { Figures } from '../scheduler/figures.ts'
import type { HistoryQuery } from '../storage/journal/journal.ts'
import { type OutputListener, OutputRing } from './output-ring.ts'
import { isDurable } from './record-state.ts'
import { recordStarted } from './recording.ts'
import type { Shell } from './shell.ts'
import { liveStatus, type OperationStatus, recordedStatus } from './status.ts'

export interface EngineFigures extends Figures {
  /** Operations that are not over. */
  readonly operations: number
  readonly watches: number
  /** Tasks whose facts the journal has not taken yet. */
  readonly unsettled: number
  /** Why the journal takes no facts at present. */
  readonly journalTrouble: string | undefined
}

export const figuresOf = (shell: Shell): EngineFigures => ({
  ...shell.scheduler.figures(),
  operations: shell.operations.size,
  watches: shell.watches,
  unsettled: shell.unsettled.size,
  journalTrouble: shell.trouble?.error.message,
})

export async function find(shell: Shell, name: string): Promise<OperationStatus | undefined> {
  const operation = shell.operations.get(name)
  if (operation !== undefined) return liveStatus(operation)
  const record = await shell.journal.find(name)
  return record && recordedStatus(name, record)
}

/** Operations that are made ready in one loop turn. */
const AT_ONCE = 16

export interface OperationPage {
  readonly operations: readonly OperationStatus[]
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined
}

export async function listOperations(shell: Shell, query: HistoryQuery, cursor?: string): Promise<OperationPage> {
  await recordStarted(shell) // or who asks for what runs would not see what has just begun to
  const { records = [], next } = await shell.journal.list({ ...query, whole: true }, cursor)
  const operations: OperationStatus[] = []
  for (const record of records) {
    const live = shell.operations.get(record.operation)
    operations.push(live === undefined ? recordedStatus(record.operation, record) : liveStatus(live))
    if (operations.length % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { operations, next }
}

export function* openOperations(shell: Shell): Generator<OperationStatus> {
  for (const operation of shell.operations.values()) {
    const isAcknowledged = operation.record === 'durable' && isDurable(operation.task)
    if (isAcknowledged && operation.attendance !== 'over' && operation.task.record !== 'concluded')
      yield liveStatus(operation)
  }
}

export async function explain(shell: Shell, name: string): Promise<readonly string[]> {
  const task = shell.operations.get(name)?.task
  if (task?.ending !== undefined && task.record !== 'concluded')
    return [`${task.ending.state}: ${task.ending.what}; it is being recorded`]
  const reasons = task && shell.scheduler.why(task.id, shell.clock.monotonic())
  if (reasons !== undefined && reasons.length > 0) return reasons
  const status = await find(shell, name)
  return status?.end === undefined ? [] : [`${status.end.state}: ${status.end.what}`]
}

export function listenOutput(shell: Shell, name: string, wake: () => void): OutputListener | undefined {
  const task = shell.operations.get(name)?.task
  if (task === undefined || task.record === 'concluded') return undefined
  task.output ??= new OutputRing(shell.limits.outputBytes)
  return task.output.listen(wake)
}
