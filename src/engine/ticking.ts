import type { Shell } from './shell.ts'
import { setTimer } from './shell.ts'

/** A timer that is so late was held up by a loop that stood still, and then input has been waiting too. */
const STALL_MS = 1000
/** Far below what a timer can hold. */
const LONGEST_MS = 60 * 60 * 1000

/** One timer, for the next thing that time alone brings about. */
export function armTick(shell: Shell): void {
  const due = shell.scheduler.nextDue()
  if (due === undefined || due >= shell.tickAt || shell.isClosing) return
  shell.tickAt = due
  const ms = Math.min(LONGEST_MS, due - shell.clock.monotonic())
  setTimer(shell, 'tick', { ms, fire: () => ring(shell, due) })
}

function ring(shell: Shell, due: number): void {
  shell.tickAt = Number.POSITIVE_INFINITY
  if (shell.clock.monotonic() - due <= STALL_MS) {
    shell.dispatch({ kind: 'tick' })
    return
  }
  // Heartbeats may lie in the sockets, unread: leases must not expire before they are. Reading takes one turn, and what
  // is read in pieces another.
  setImmediate(() => setImmediate(() => shell.dispatch({ kind: 'tick' })))
}
