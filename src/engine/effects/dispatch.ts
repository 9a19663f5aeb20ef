/**
 * The one way into the scheduler. Events are taken one after another: what a door does while it is being told of one
 * waits until that one is carried out. First the effects change what we know, then the facts go to the journal, and only
 * then does anything leave for a door, so that nothing gets ahead of its own record.
 */

import type { EngineState } from '../state/engine-state.ts'
import { carryOut } from './apply-effects.ts'
import { deliver } from './deliver.ts'
import { armTick } from './tick.ts'

export function dispatchAll(engine: EngineState): void {
  if (engine.isBusy) return
  engine.isBusy = true
  try {
    do {
      applyEvents(engine)
      engine.recorder.flush()
      deliver(engine)
    } while (engine.events.length > 0 || engine.recorder.hasMarked || engine.outward.length > 0)
  } finally {
    engine.isBusy = false
  }
  armTick(engine)
}

function applyEvents(engine: EngineState): void {
  const { events, clock } = engine
  engine.now = clock.now()
  engine.instant = clock.monotonic()
  for (let i = 0; i < events.length; i++) {
    const event = events[i]
    if (event === undefined) continue
    try {
      for (const effect of engine.scheduler.apply(event, engine.instant)) carryOut(engine, effect)
    } catch (error) {
      engine.log.error({ error, event: event.kind }, 'scheduler failed')
    }
  }
  events.length = 0
}
