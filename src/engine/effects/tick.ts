import type { EngineState } from '../state/engine-state.ts'

/** A timer that is so late was held up by a loop that stood still, and then input has been waiting too. */
const STALL_MS = 1000
/** Far below what a timer can hold. */
const LONGEST_MS = 60 * 60 * 1000

/** One timer, for the next thing that time alone brings about. */
export function armTick(engine: EngineState): void {
  const due = engine.scheduler.nextDue()
  if (due === undefined || due >= engine.tickAt || engine.isClosing) return
  engine.tickAt = due
  const ms = Math.min(LONGEST_MS, due - engine.clock.monotonic())
  engine.timers.set('tick', ms, () => ring(engine, due))
}

function ring(engine: EngineState, due: number): void {
  engine.tickAt = Number.POSITIVE_INFINITY
  if (engine.clock.monotonic() - due <= STALL_MS) {
    engine.dispatch({ kind: 'tick' })
    return
  }
  // Heartbeats may lie in the sockets, unread: leases must not expire before they are. Reading takes one turn, and what
  // is read in pieces another.
  setImmediate(() => setImmediate(() => engine.dispatch({ kind: 'tick' })))
}
