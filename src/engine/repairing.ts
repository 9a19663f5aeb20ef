/**
 * When the journal fails (its disk is full), nothing that is under way is lost: tasks whose facts did not go in are kept,
 * and recorded afresh when it works again, as they are by then. Until that, their ends are told to nobody, and who comes
 * with something new is sent away.
 */
import type { FaultError } from '../base/fault.ts'
import { forgetGiven, type LiveTask, operationsOf } from './live-task.ts'
import { isClosed, isUnsettled, moveRecord } from './record-state.ts'
import { markDirty, type Shell, setTimer } from './shell.ts'

const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 15_000

export function unsettle(shell: Shell, task: LiveTask): void {
  if (isClosed(task)) return
  moveRecord(task, 'fail')
  forgetGiven(task)
  for (const operation of operationsOf(task)) operation.isLeftRecorded = false
  shell.unsettled.add(task)
}

/** Several records that fail together are one trouble. */
export function noteTrouble(shell: Shell, error: FaultError): void {
  const now = shell.clock.monotonic()
  const { trouble } = shell
  if (shell.isClosing) return
  if (trouble !== undefined && now < trouble.until) return
  if (trouble === undefined) shell.log.error({ error }, 'the journal does not take facts')
  const delayMs = Math.min(LONGEST_DELAY_MS, (trouble?.delayMs ?? FIRST_DELAY_MS / 2) * 2)
  shell.trouble = { error, delayMs, until: now + delayMs }
  setTimer(shell, 'repair', { ms: delayMs, fire: () => tryOne(shell) })
}

/** One is tried; how it fares says what to do with the rest. */
function tryOne(shell: Shell): void {
  for (const task of shell.unsettled) if (repair(shell, task)) return
}

/** It works again: all that was kept goes in. */
export function noteWell(shell: Shell): void {
  if (shell.trouble !== undefined) shell.log.info({ tasks: shell.unsettled.size }, 'the journal takes facts again')
  shell.trouble = undefined
  for (const task of [...shell.unsettled]) repair(shell, task)
}

/** A call of its own for each: one that cannot be recorded must not hold up another. */
function repair(shell: Shell, task: LiveTask): boolean {
  shell.unsettled.delete(task)
  if (!isUnsettled(task)) return false // its end was acknowledged meanwhile
  moveRecord(task, 'retry')
  markDirty(shell, task)
  shell.dispatch()
  return true
}
