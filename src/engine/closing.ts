import { unavailable } from './faults.ts'
import { operationsOf } from './live-task.ts'
import { recordStarted } from './recording.ts'
import type { Shell } from './shell.ts'
import { failWatches } from './watching.ts'
import { dropLink } from './worker-link.ts'

/** Everybody is told to come back later; what was accepted is on record, and goes on after the next start. */
export async function closeShell(shell: Shell): Promise<void> {
  if (!shell.isClosing) {
    shell.isClosing = true
    for (const link of [...shell.links.values()]) dropLink(shell, link, 'the server is stopping')
    for (const stop of shell.timers.values()) stop()
    shell.timers.clear()
    recordStarted(shell)
  }
  while (shell.recording > 0) await new Promise<void>((resolve) => shell.quiet.push(resolve))
  const error = unavailable('the server is stopping')
  for (const task of [...shell.tasks.values()]) {
    for (const operation of operationsOf(task)) {
      operation.caller?.reject(error)
      operation.caller = undefined
      failWatches(shell, operation, error)
    }
  }
}
