import type { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import type { Journal } from '../../storage/journal/journal.ts'
import { absent, faultError, shortened, unavailable } from '../tasks/faults.ts'
import { guarded } from '../tasks/guarded.ts'
import type { LiveTask, Operation, Watch, Watcher } from '../tasks/live-task.ts'
import type { OperationStatus } from '../tasks/status.ts'
import { liveStatus, recordedStatus } from '../tasks/status-of.ts'
import type { Waiters } from './waiters.ts'

/** Watchers are notified in portions of this size, so that other work gets a loop turn in between. */
const NOTIFIED_AT_ONCE = 32

/** Notifies watchers of changes, once at the end of the loop turn. */
export interface Watches {
  readonly count: number
  /** Watches an operation, which is undefined when only the journal can know the name. Returns a function that ends it. */
  watch(name: string, operation: Operation | undefined, watcher: Watcher): () => void
  /** Something about the task has changed. */
  markDue(task: LiveTask): void
  markOperationDue(operation: Operation): void
  fail(operation: Operation, error: FaultError): void
  /** Notifies the watchers of what the journal has on record. */
  lookUp(operation: Operation): void
}

export interface WatchesOptions {
  readonly journal: Pick<Journal, 'find'>
  readonly log: Log
  readonly waiters: Pick<Waiters, 'awaitWatcher' | 'takeUp'>
}

export function createWatches({ journal, log, waiters }: WatchesOptions): Watches {
  let count = 0
  const close = (watch: Watch): void => {
    if (watch.isClosed) return
    watch.isClosed = true
    count--
    const { operation } = watch
    if (operation === undefined || !detach(watch, operation)) return
    waiters.awaitWatcher(operation)
  }
  const due = notifyingAtTurnEnd(log, close)
  const fail = (watch: Watch, error: FaultError): void => {
    if (watch.isClosed) return
    close(watch)
    guarded(log, () => watch.watcher.failed(error))
  }
  const lookUp = (watch: Watch, name: string): void => {
    journal.find(name).then(
      (record) => {
        if (watch.isClosed) return
        if (record === undefined) return fail(watch, absent(`no operation is named ${shortened(name)}`))
        close(watch)
        reportRecorded(watch.watcher, recordedStatus(name, record), log)
      },
      (error: unknown) => fail(watch, faultError(error, 'the journal could not be read')),
    )
  }
  return {
    get count() {
      return count
    },
    watch(name, operation, watcher) {
      const watch: Watch = { watcher, operation, isDue: false, isClosed: false }
      count++
      if (operation === undefined) lookUp(watch, name)
      else {
        if (operation.watches === undefined) operation.watches = [watch]
        else operation.watches.push(watch)
        waiters.takeUp(operation)
        due(watch)
      }
      return () => close(watch)
    },
    markDue({ first, merged }) {
      if (first.watches !== undefined) for (const watch of first.watches) due(watch)
      if (merged === undefined) return
      for (const { watches } of merged) if (watches !== undefined) for (const watch of watches) due(watch)
    },
    markOperationDue({ watches }) {
      if (watches !== undefined) for (const watch of watches) due(watch)
    },
    fail(operation, error) {
      for (const watch of operation.watches ?? []) fail(watch, error)
    },
    lookUp(operation) {
      for (const watch of operation.watches ?? []) if (!watch.isClosed) lookUp(watch, operation.name)
    },
  }
}

/** An operation that is open on record only belongs to another server, or to one that ended. */
function reportRecorded(watcher: Watcher, status: OperationStatus, log: Log): void {
  guarded(log, () => watcher.told(status))
  if (status.end !== undefined) return
  const gone = unavailable(`operation ${shortened(status.operation)} is not served here any more`)
  guarded(log, () => watcher.failed(gone))
}

/** Returns false when the operation had no watches. */
function detach(watch: Watch, operation: Operation): boolean {
  const { watches } = operation
  if (watches === undefined) return false
  if (watches.length > 1) operation.watches = watches.filter((other) => other !== watch)
  else if (watches[0] === watch) operation.watches = undefined
  return true
}

/** Collects due watches and notifies each once, at the end of the loop turn. */
function notifyingAtTurnEnd(log: Log, close: (watch: Watch) => void): (watch: Watch) => void {
  let dueWatches: Watch[] = []
  const notifyDue = (): void => {
    const due = dueWatches
    const isLong = due.length > NOTIFIED_AT_ONCE
    dueWatches = isLong ? due.slice(NOTIFIED_AT_ONCE) : []
    if (isLong) setImmediate(notifyDue)
    for (const watch of isLong ? due.slice(0, NOTIFIED_AT_ONCE) : due) {
      watch.isDue = false
      if (watch.isClosed || watch.operation === undefined) continue
      const status = liveStatus(watch.operation)
      if (status.end !== undefined) close(watch)
      guarded(log, () => watch.watcher.told(status))
    }
  }
  return (watch) => {
    if (watch.isDue || watch.isClosed) return
    watch.isDue = true
    if (dueWatches.push(watch) === 1) setImmediate(notifyDue)
  }
}
