/**
 * The one way into the scheduler. Events are taken one after another: what a door does while it is being told of one
 * waits until that one is carried out. First the effects change what we know, then the facts go to the journal, and only
 * then does anything leave for a door, so that nothing gets ahead of its own record.
 */
import { carryOut } from './carrying-out.ts'
import { deliver } from './delivering.ts'
import { recordDirty } from './recording.ts'
import type { Shell } from './shell.ts'
import { armTick } from './ticking.ts'

export function dispatchAll(shell: Shell): void {
  if (shell.isBusy) return
  shell.isBusy = true
  try {
    do {
      applyEvents(shell)
      recordDirty(shell)
      deliver(shell)
    } while (shell.events.length > 0 || shell.dirty.length > 0 || shell.outward.length > 0)
  } finally {
    shell.isBusy = false
  }
  armTick(shell)
}

function applyEvents(shell: Shell): void {
  const { events, clock } = shell
  shell.now = clock.now()
  shell.instant = clock.monotonic()
  for (let i = 0; i < events.length; i++) {
    const event = events[i]
    if (event === undefined) continue
    try {
      for (const effect of shell.scheduler.apply(event, shell.instant)) carryOut(shell, effect)
    } catch (error) {
      shell.log.error({ error, event: event.kind }, 'the scheduler failed')
    }
  }
  events.length = 0
}
