import type { Figures } from '../scheduler/figures.ts'
import { type OutputListener, OutputRing } from './output-ring.ts'
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

export function* openOperations(shell: Shell): Generator<OperationStatus> {
  for (const operation of shell.operations.values()) {
    const isAcknowledged = operation.isDurable && operation.task.isDurable
    if (isAcknowledged && !operation.isOver && !operation.task.isConcluded) yield liveStatus(operation)
  }
}

export async function explain(shell: Shell, name: string): Promise<readonly string[]> {
  const task = shell.operations.get(name)?.task
  if (task?.ending !== undefined && !task.isConcluded)
    return [`${task.ending.state}: ${task.ending.what}; it is being recorded`]
  const reasons = task && shell.scheduler.why(task.id, shell.clock.monotonic())
  if (reasons !== undefined && reasons.length > 0) return reasons
  const status = await find(shell, name)
  return status?.end === undefined ? [] : [`${status.end.state}: ${status.end.what}`]
}

export function listenOutput(shell: Shell, name: string, wake: () => void): OutputListener | undefined {
  const task = shell.operations.get(name)?.task
  if (task === undefined || task.isConcluded) return undefined
  task.output ??= new OutputRing(shell.limits.outputBytes)
  return task.output.listen(wake)
}
