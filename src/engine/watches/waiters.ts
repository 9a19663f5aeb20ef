/** An operation that needs a watcher gives up its reference to the task when it has had none for the grace time. */
import type { Clock } from '../../base/clock.ts'
import type { GridEvent } from '../../scheduler/model/events.ts'
import type { Operation } from '../tasks/live-task.ts'
import { moveAttendance } from '../tasks/record-state.ts'
import type { Timers } from '../tasks/timers.ts'
import { Unwatched } from './unwatched.ts'

export interface Waiters {
  /** Starts the grace time of an operation that needs a watcher and has none. */
  awaitWatcher(operation: Operation): void
  /** The operation has a watcher: if it had lapsed and its task is still there, it counts again. */
  takeUp(operation: Operation): void
  /** Gives up the reference. The operation can still be watched and taken up again: nothing of this is recorded. */
  lapse(operation: Operation): void
  /** Ends the grace time. */
  forget(operation: Operation): void
}

export interface WaitersOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly timers: Timers
  readonly graceMs: number
  readonly dispatch: (event: GridEvent) => void
}

export function waiters({ clock, timers, graceMs, dispatch }: WaitersOptions): Waiters {
  const unwatched = new Unwatched()
  const arm = (ms: number): void => timers.set('no-waiter', ms, sweep)
  const lapse = (operation: Operation): void => {
    unwatched.delete(operation)
    if (operation.attendance !== 'waiting' || operation.task.ending !== undefined) return
    moveAttendance(operation, 'lapse')
    dispatch({ kind: 'leave', task: operation.task.id, waiter: operation.name })
  }
  const sweep = (): void => {
    const before = clock.monotonic() - graceMs
    for (let { oldest } = unwatched; oldest !== undefined; { oldest } = unwatched) {
      const since = oldest.unwatchedAt ?? 0
      if (since > before) return arm(since - before)
      lapse(oldest)
    }
  }
  return {
    awaitWatcher(operation) {
      const { needsWaiter, attendance, watches, task } = operation
      if (!needsWaiter || attendance !== 'waiting' || watches !== undefined || task.ending !== undefined) return
      if (operation.unwatchedAt !== undefined || task.record === 'refused') return
      unwatched.add(operation, clock.monotonic())
      if (!timers.has('no-waiter')) arm(graceMs)
    },
    takeUp(operation) {
      unwatched.delete(operation)
      const { attendance, task, name } = operation
      if (attendance !== 'lapsed' || task.ending !== undefined || task.state === 'stopping') return
      moveAttendance(operation, 'rejoin')
      dispatch({ kind: 'join', task: task.id, waiter: name })
    },
    lapse,
    forget: (operation) => unwatched.delete(operation),
  }
}
