import type { EngineState } from '../state/engine-state.ts'
import { absent, shortened } from '../tasks/faults.ts'
import type { Operation } from '../tasks/live-task.ts'
import { isCancelled, moveAttendance } from '../tasks/record-state.ts'

export interface CancelOptions {
  /** Cancels the task for every other operation that waits for it, too. */
  readonly forAll?: boolean
  readonly what?: string
}

/**
 * The operation is over for its caller. Its task goes on for as long as another operation wants it. Resolves when that
 * is as durable as the task is; nothing happens to what is over already.
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
  engine.waiters.forget(operation)
  engine.recorder.mark(task)
  await new Promise<void>((resolve, reject) => {
    engine.recorder.onRecorded({ resolve, reject })
    if (forAll) engine.dispatch({ kind: 'cancel', task: task.id, ...(what !== undefined && { what }) })
    else if (hadLapsed) engine.dispatch()
    else engine.dispatch({ kind: 'leave', task: task.id, waiter: name })
  })
  noteOver(engine, operation)
}

/** Others still want the task: to this one's caller it is over, now that this can not be lost. */
function noteOver(engine: EngineState, operation: Operation): void {
  const { task } = operation
  if (task.ending !== undefined || task.state === 'stopping') return
  moveAttendance(operation, 'confirm')
  engine.watches.markOperationDue(operation)
}

/** From now on it needs no watcher. False when it is over, or unknown. */
export function hold(engine: EngineState, name: string): boolean {
  const operation = engine.live.operations.get(name)
  if (operation === undefined || isCancelled(operation) || operation.task.ending !== undefined) return false
  operation.needsWaiter = false
  engine.waiters.takeUp(operation)
  return operation.attendance === 'waiting'
}

/**
 * It gives up its reference, as it does for want of a watcher; the last one takes the task with it. It can be taken up
 * again by `hold` or a watcher, and after a restart it counts as before: for good is `cancel`.
 */
export function leave(engine: EngineState, name: string): boolean {
  const operation = engine.live.operations.get(name)
  if (operation === undefined || operation.attendance !== 'waiting' || operation.task.ending !== undefined) return false
  operation.needsWaiter = true
  engine.waiters.lapse(operation)
  return true
}
