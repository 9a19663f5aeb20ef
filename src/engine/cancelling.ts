import { absent, shortened } from './faults.ts'
import type { Operation } from './live-task.ts'
import { lapse, takeUp } from './no-waiter.ts'
import { isCancelled, moveAttendance } from './record-state.ts'
import { markDirty, type Shell } from './shell.ts'
import { markOperationDue } from './watching.ts'

export interface CancelWish {
  /** Whoever else waits for the same task loses it too. */
  readonly forAll?: boolean
  readonly what?: string
}

/**
 * The operation is over for its caller. Its task goes on for as long as another operation wants it. Resolves when that
 * is as durable as the task is; nothing happens to what is over already.
 */
export async function cancel(shell: Shell, name: string, { forAll = false, what }: CancelWish = {}): Promise<void> {
  const operation = shell.operations.get(name)
  if (operation === undefined) {
    if ((await shell.journal.find(name)) === undefined) throw absent(`no operation is named ${shortened(name)}`)
    return
  }
  const { task } = operation
  if (task.ending !== undefined || isCancelled(operation)) return
  const hadLapsed = operation.attendance === 'lapsed'
  moveAttendance(operation, 'cancel')
  operation.leftAt = shell.clock.now()
  shell.unwatched.delete(operation)
  markDirty(shell, task)
  await new Promise<void>((resolve, reject) => {
    shell.hooks.push({ resolve, reject })
    if (forAll) shell.dispatch({ kind: 'cancel', task: task.id, ...(what !== undefined && { what }) })
    else if (hadLapsed) shell.dispatch()
    else shell.dispatch({ kind: 'leave', task: task.id, waiter: name })
  })
  noteOver(shell, operation)
}

/** Others still want the task: to this one's caller it is over, now that this can not be lost. */
function noteOver(shell: Shell, operation: Operation): void {
  const { task } = operation
  if (task.ending !== undefined || task.state === 'stopping') return
  moveAttendance(operation, 'confirm')
  markOperationDue(shell, operation)
}

/** From now on it needs no watcher. False when it is over, or unknown. */
export function hold(shell: Shell, name: string): boolean {
  const operation = shell.operations.get(name)
  if (operation === undefined || isCancelled(operation) || operation.task.ending !== undefined) return false
  operation.needsWaiter = false
  takeUp(shell, operation)
  return operation.attendance === 'waiting'
}

/**
 * It gives up its reference, as it does for want of a watcher; the last one takes the task with it. It can be taken up
 * again by `hold` or a watcher, and after a restart it counts as before: for good is `cancel`.
 */
export function leave(shell: Shell, name: string): boolean {
  const operation = shell.operations.get(name)
  if (operation === undefined || operation.attendance !== 'waiting' || operation.task.ending !== undefined) return false
  operation.needsWaiter = true
  lapse(shell, operation)
  return true
}
