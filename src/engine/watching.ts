import type { FaultError } from '../base/fault.ts'
import { absent, faultError, shortened, unavailable } from './faults.ts'
import type { LiveTask, Operation } from './live-task.ts'
import { awaitWatcher, takeUp } from './no-waiter.ts'
import { guarded, type Shell } from './shell.ts'
import { liveStatus, type OperationStatus, recordedStatus } from './status.ts'

/** Who wants to know how an operation fares. */
export interface Watcher {
  /** First how it stands, then each change; what changes several times in a loop turn is told once. Last comes the end. */
  told(status: OperationStatus): void
  /** There is no such operation, or it cannot be known. Nothing comes after it. */
  failed(error: FaultError): void
}

export interface Watch {
  readonly watcher: Watcher
  readonly operation: Operation | undefined
  isDue: boolean
  isOver: boolean
}

/** Tells the watcher until the operation is over, or until the answer is called. Nothing is told before it returns. */
export function watch(shell: Shell, name: string, watcher: Watcher): () => void {
  const operation = shell.operations.get(name)
  const one: Watch = { watcher, operation, isDue: false, isOver: false }
  shell.watches++
  if (operation === undefined) lookUp(shell, one, name)
  else {
    if (operation.watches === undefined) operation.watches = [one]
    else operation.watches.push(one)
    takeUp(shell, operation)
    due(shell, one)
  }
  return () => endWatch(shell, one)
}

function endWatch(shell: Shell, one: Watch): void {
  if (one.isOver) return
  one.isOver = true
  shell.watches--
  const { operation } = one
  if (operation?.watches === undefined) return
  const { watches } = operation
  if (watches.length > 1) operation.watches = watches.filter((other) => other !== one)
  else if (watches[0] === one) operation.watches = undefined
  awaitWatcher(shell, operation)
}

/** Something about the task has changed. */
export function markDue(shell: Shell, { first, merged }: LiveTask): void {
  if (first.watches !== undefined) for (const one of first.watches) due(shell, one)
  if (merged === undefined) return
  for (const { watches } of merged) if (watches !== undefined) for (const one of watches) due(shell, one)
}

export function markOperationDue(shell: Shell, { watches }: Operation): void {
  if (watches !== undefined) for (const one of watches) due(shell, one)
}

function due(shell: Shell, one: Watch): void {
  if (one.isDue || one.isOver) return
  one.isDue = true
  if (shell.dueWatches.push(one) === 1) setImmediate(() => tellDue(shell))
}

/** Doors do what they do in the turn that tells them: so many at once, and others have a turn before the rest. */
const TOLD_AT_ONCE = 32

/** At the end of a loop turn, each once. */
function tellDue(shell: Shell): void {
  const { dueWatches } = shell
  const isLong = dueWatches.length > TOLD_AT_ONCE
  shell.dueWatches = isLong ? dueWatches.slice(TOLD_AT_ONCE) : []
  if (isLong) setImmediate(() => tellDue(shell))
  for (const one of isLong ? dueWatches.slice(0, TOLD_AT_ONCE) : dueWatches) {
    one.isDue = false
    if (one.isOver || one.operation === undefined) continue
    const status = liveStatus(one.operation)
    if (status.end !== undefined) endWatch(shell, one)
    tell(shell, one, status)
  }
}

function tell(shell: Shell, { watcher }: Watch, status: OperationStatus): void {
  try {
    watcher.told(status)
  } catch (error) {
    shell.log.error({ error }, 'a door failed in a call from the engine')
  }
}

export function failWatches(shell: Shell, operation: Operation, error: FaultError): void {
  for (const one of operation.watches ?? []) fail(shell, one, error)
}

function fail(shell: Shell, one: Watch, error: FaultError): void {
  if (one.isOver) return
  endWatch(shell, one)
  guarded(shell, () => one.watcher.failed(error))
}

/** Only the journal knows it. */
function lookUp(shell: Shell, one: Watch, name: string): void {
  shell.journal.find(name).then(
    (record) => {
      if (one.isOver) return
      if (record === undefined) {
        fail(shell, one, absent(`no operation is named ${shortened(name)}`))
        return
      }
      const status = recordedStatus(name, record)
      endWatch(shell, one)
      tell(shell, one, status)
      if (status.end === undefined)
        guarded(shell, () =>
          one.watcher.failed(unavailable(`operation ${shortened(name)} is not served here any more`)),
        )
    },
    (error) => fail(shell, one, faultError(error, 'the journal could not be read')),
  )
}

/** Those who watch are told what the journal says. */
export function lookUpWatches(shell: Shell, operation: Operation): void {
  for (const one of operation.watches ?? []) if (!one.isOver) lookUp(shell, one, operation.name)
}
