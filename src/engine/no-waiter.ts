/** Operations that need a watcher give up their reference when they have had none for a while. */
import type { Operation } from './live-task.ts'
import { moveAttendance } from './record-state.ts'
import type { Shell } from './shell.ts'
import { setTimer } from './shell.ts'

/** Nobody watches it now; from here its time runs. */
export function awaitWatcher(shell: Shell, operation: Operation): void {
  const { needsWaiter, attendance, watches, task } = operation
  if (!needsWaiter || attendance !== 'waiting' || watches !== undefined || task.ending !== undefined) return
  if (operation.unwatchedAt !== undefined || task.record === 'refused') return
  shell.unwatched.add(operation, shell.clock.monotonic())
  if (!shell.timers.has('no-waiter')) arm(shell, shell.noWaiterGraceMs)
}

/** Somebody does again: if it was given up and its task is still there, it counts again. */
export function takeUp(shell: Shell, operation: Operation): void {
  shell.unwatched.delete(operation)
  const { attendance, task, name } = operation
  if (attendance !== 'lapsed' || task.ending !== undefined || task.state === 'stopping') return
  moveAttendance(operation, 'rejoin')
  shell.dispatch({ kind: 'join', task: task.id, waiter: name })
}

/** It is no reference any more, but can still be watched and taken up again: nothing of that is recorded. */
export function lapse(shell: Shell, operation: Operation): void {
  shell.unwatched.delete(operation)
  if (operation.attendance !== 'waiting' || operation.task.ending !== undefined) return
  moveAttendance(operation, 'lapse')
  shell.dispatch({ kind: 'leave', task: operation.task.id, waiter: operation.name })
}

function arm(shell: Shell, ms: number): void {
  setTimer(shell, 'no-waiter', { ms, fire: () => sweep(shell) })
}

function sweep(shell: Shell): void {
  const before = shell.clock.monotonic() - shell.noWaiterGraceMs
  for (let { oldest } = shell.unwatched; oldest !== undefined; { oldest } = shell.unwatched) {
    const since = oldest.unwatchedAt ?? 0
    if (since > before) {
      arm(shell, since - before)
      return
    }
    lapse(shell, oldest)
  }
}
