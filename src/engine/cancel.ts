import type { EngineState } from './engine-state.ts'
import { absent, shortened } from './tasks/faults.ts'
import type { Operation } from './tasks/live-task.ts'
import { isCancelled, moveAttendance } from './tasks/record-state.ts'
import { lapse, markOperationDue, takeUp } from './watches.ts'

export interface CancelOptions {
  /** Cancels the task for every other operation that waits for it, too. */
  readonly forAll?: boolean
  readonly what?: string
}

/**
 * Ends the operation for its caller. Its task continues while another operation needs it. Resolves when the journal has
 * recorded that; does nothing when the operation has ended.
 */
export async function cancel(
  engine: EngineState,
  name: string,
  { forAll = false, what }: CancelOptions = {},
): Promise<void> {
  const operation = engine.live.operations.get(name)
  if (operation === undefined) {
    if ((await engine.journal.find(name)) === undefined) throw absent(`no operation is named ${shortened(name)}`)
    return
  }
  const { task } = operation
  if (task.ending !== undefined || isCancelled(operation)) return
  const hadLapsed = operation.attendance === 'lapsed'
  moveAttendance(operation, 'cancel')
  operation.leftAt = engine.clock.now()
  engine.live.unwatched.delete(operation)
  engine.live.markChanged(task)
  await new Promise<void>((resolve, reject) => {
    engine.recordHooks.push({ resolve, reject })
    if (forAll) engine.dispatch({ kind: 'cancel', task: task.id, ...(what !== undefined && { what }) })
    else if (hadLapsed) engine.dispatch()
    else engine.dispatch({ kind: 'leave', task: task.id, waiter: name })
  })
  confirmCancel(engine, operation)
}

/** The cancellation is durable: the watchers of the operation are notified, even if the task continues for others. */
function confirmCancel(engine: EngineState, operation: Operation): void {
  const { task } = operation
  if (task.ending !== undefined || task.state === 'stopping') return
  moveAttendance(operation, 'confirm')
  markOperationDue(engine, operation)
}

/** The operation no longer needs a watcher. Returns false when it has ended or is unknown. */
export function hold(engine: EngineState, name: string): boolean {
  const operation = engine.live.operations.get(name)
  if (operation === undefined || isCancelled(operation) || operation.task.ending !== undefined) return false
  operation.needsWaiter = false
  takeUp(engine, operation)
  return operation.attendance === 'waiting'
}

/**
 * The operation releases its reference to the task, as it does when it has no watcher; a task without references is
 * cancelled. `hold`, a watcher or a restart of the server restores the reference. To end the operation permanently, use
 * `cancel`.
 */
export function leave(engine: EngineState, name: string): boolean {
  const operation = engine.live.operations.get(name)
  if (operation === undefined || operation.attendance !== 'waiting' || operation.task.ending !== undefined) return false
  operation.needsWaiter = true
  lapse(engine, operation)
  return true
}
