import { FaultError, invalid } from '../base/fault.ts'
import type { Effect } from '../scheduler/model/effects.ts'
import { letGo } from './ending.ts'
import { exhausted, shortened, unavailable } from './faults.ts'
import { type LiveTask, newOperation } from './live-task.ts'
import { markDirty, type Shell } from './shell.ts'

type Refused = Extract<Effect, { kind: 'refused' }>
type Merged = Extract<Effect, { kind: 'merged' }>

/** When a refusal does not say when to come back. */
const RETRY_AFTER_MS = 1000

/** The same is under way: the operation waits for that, under its own name. */
export function join(shell: Shell, { task: id, submitted }: Merged): void {
  const task = shell.tasks.get(id)
  const copy = shell.tasks.get(submitted)
  if (task === undefined || copy === undefined) return
  const { first } = copy
  shell.tasks.delete(submitted)
  if (copy.hasRoots) shell.roots?.release(submitted, 'inputs')
  const operation = newOperation(task, first)
  if (task.merged === undefined) task.merged = [operation]
  else task.merged.push(operation)
  shell.operations.set(operation.name, operation)
  if (operation.durability === 'power') task.durability = 'power'
  task.meter.merged()
  markDirty(shell, task)
}

export function refuseAdmission(shell: Shell, task: LiveTask, refused: Refused): void {
  letGo(shell, task)
  if (task.hasRoots) shell.roots?.release(task.id, 'inputs')
  shell.meter.refused(refused.why)
  task.first.caller?.reject(refusal(shell, task, refused))
  task.first.caller = undefined
}

function refusal(shell: Shell, { instance }: LiveTask, refused: Refused): FaultError {
  const { why, what, retryAfterMs = RETRY_AFTER_MS } = refused
  switch (why) {
    case 'queue-full':
      return exhausted('the queue', retryAfterMs, 'queue')
    case 'quota':
      return exhausted(`what instance "${shortened(instance)}" may have unfinished`, retryAfterMs)
    case 'rate':
      return exhausted(`what instance "${shortened(instance)}" may submit in a second`, retryAfterMs)
    case 'duplicate':
      return new FaultError({ kind: 'bug', what })
    case 'unknown-property':
      // Those who offered it before our restart may not be back yet.
      return shell.instant < shell.reconnectUntil
        ? unavailable(`${what} since the restart; its workers may be on their way`)
        : invalid(what)
    case 'invalid':
      return invalid(what)
  }
}
