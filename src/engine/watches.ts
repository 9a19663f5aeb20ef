/**
 * Notifies the watchers of an operation, once per loop turn in which it changed. An operation that needs a watcher and
 * has had none for the grace time releases its reference to the task.
 */
import type { FaultError } from '../base/fault.ts'
import type { EngineState } from './engine-state.ts'
import { absent, faultError, shortened, unavailable } from './tasks/faults.ts'
import { cancelledEnd, type LiveTask, type Operation, startsOf, type Watch } from './tasks/live-task.ts'
import { moveAttendance } from './tasks/record-state.ts'
import { recordedStatus } from './tasks/recorded-status.ts'
import type { OperationEnd, OperationStatus, Watcher } from './tasks/status.ts'

/** Watchers are notified in portions of this size, so that other work gets a loop turn in between. */
const NOTIFIED_AT_ONCE = 32

/** Returns a function that ends the watch. */
export function watch(engine: EngineState, name: string, watcher: Watcher): () => void {
  const operation = engine.live.operations.get(name)
  const watch: Watch = { watcher, operation, isDue: false, isClosed: false }
  engine.watchCount++
  if (operation === undefined) lookUp(engine, watch, name)
  else {
    if (operation.watches === undefined) operation.watches = [watch]
    else operation.watches.push(watch)
    takeUp(engine, operation)
    if (!isKnown(watcher, operation)) due(engine, watch)
  }
  return () => close(engine, watch)
}

/** Whether the watcher has the current status, or waits for the end of an operation that is open. */
function isKnown({ known, endOnly }: Watcher, { task, attendance }: Operation): boolean {
  if (task.record === 'concluded' || attendance === 'over') return false
  if (endOnly) return true
  return known?.state === task.state && known.attempt === task.attempt && known.startedAt === task.startedAt
}

function close(engine: EngineState, watch: Watch): void {
  if (watch.isClosed) return
  watch.isClosed = true
  engine.watchCount--
  const { operation } = watch
  if (operation?.watches === undefined) return
  const { watches } = operation
  if (watches.length > 1) operation.watches = watches.filter((other) => other !== watch)
  else if (watches[0] === watch) operation.watches = undefined
  awaitWatcher(engine, operation)
}

/** The task has changed. */
export function markDue(engine: EngineState, { first, merged }: LiveTask): void {
  if (first.watches !== undefined) markOperationDue(engine, first)
  if (merged !== undefined) for (const operation of merged) markOperationDue(engine, operation)
}

export function markOperationDue(engine: EngineState, { watches, task, attendance }: Operation): void {
  if (watches === undefined) return
  const isOpen = task.record !== 'concluded' && attendance !== 'over'
  for (const watch of watches) if (!isOpen || !watch.watcher.endOnly) due(engine, watch)
}

function due(engine: EngineState, watch: Watch): void {
  if (watch.isDue || watch.isClosed) return
  watch.isDue = true
  if (engine.dueWatches.push(watch) === 1) setImmediate(notifyDue, engine)
}

function notifyDue(engine: EngineState): void {
  const due = engine.dueWatches
  const isLong = due.length > NOTIFIED_AT_ONCE
  engine.dueWatches = isLong ? due.slice(NOTIFIED_AT_ONCE) : []
  if (isLong) setImmediate(notifyDue, engine)
  for (const watch of isLong ? due.slice(0, NOTIFIED_AT_ONCE) : due) {
    watch.isDue = false
    if (watch.isClosed || watch.operation === undefined) continue
    const status = liveStatus(watch.operation)
    if (status.end !== undefined) close(engine, watch)
    notify(engine, watch, status)
  }
}

/** A watcher that throws must not stop the engine. */
function notify({ log }: EngineState, { watcher }: Watch, news: OperationStatus | FaultError): void {
  try {
    if (news instanceof Error) watcher.failed(news)
    else watcher.notify(news)
  } catch (error) {
    log.error({ error }, 'callback of a door failed')
  }
}

/** Ends all watches of an operation with an error. */
export function failWatches(engine: EngineState, { watches }: Operation, error: FaultError): void {
  for (const watch of watches ?? []) fail(engine, watch, error)
}

function fail(engine: EngineState, watch: Watch, error: FaultError): void {
  if (watch.isClosed) return
  close(engine, watch)
  notify(engine, watch, error)
}

/** Notifies the watchers of the status in the journal. */
export function lookUpWatches(engine: EngineState, { watches, name }: Operation): void {
  for (const watch of watches ?? []) if (!watch.isClosed) lookUp(engine, watch, name)
}

function lookUp(engine: EngineState, watch: Watch, name: string): void {
  engine.journal.find(name).then(
    (record) => {
      if (watch.isClosed) return
      if (record === undefined) return fail(engine, watch, absent(`no operation is named ${shortened(name)}`))
      close(engine, watch)
      const status = recordedStatus(name, record)
      notify(engine, watch, status)
      // An operation that is open only in the journal belongs to another server, or to one that stopped.
      if (status.end === undefined)
        notify(engine, watch, unavailable(`operation ${shortened(name)} is no longer served by this server`))
    },
    (error: unknown) => fail(engine, watch, faultError(error, 'the journal could not be read')),
  )
}

/** Returns the status of a task that is in memory. The status has an end only once that end is durable. */
export function liveStatus(operation: Operation): OperationStatus {
  const { task, attendance } = operation
  const { accepted, ending } = task
  const isConcluded = task.record === 'concluded'
  const isLeft = attendance === 'over' || (isConcluded && attendance === 'cancelled')
  const end: OperationEnd | undefined = isLeft
    ? cancelledEnd(operation.leftAt)
    : ending !== undefined && isConcluded
      ? { state: ending.state, why: ending.why, what: ending.what, at: ending.at, cached: false, result: ending.result }
      : undefined
  return {
    operation: operation.name,
    task: task.id,
    instance: accepted.instance,
    origin: accepted.origin,
    state: end?.state ?? task.state,
    attempt: task.attempt,
    starts: startsOf(task, ending?.result),
    worker: task.worker,
    acceptedAt: accepted.acceptedAt,
    joinedAt: operation.joinedAt,
    queuedAt: task.queuedAt,
    assignedAt: task.assignedAt,
    startedAt: task.startedAt,
    end,
    spec: task.spec,
    note: operation.note,
  }
}

export async function findStatus(engine: EngineState, name: string): Promise<OperationStatus | undefined> {
  const operation = engine.live.operations.get(name)
  if (operation !== undefined) return liveStatus(operation)
  const record = await engine.journal.find(name)
  return record && recordedStatus(name, record)
}

/** Starts the grace time of an operation that needs a watcher and has none. */
export function awaitWatcher(engine: EngineState, operation: Operation): void {
  const { needsWaiter, attendance, watches, task } = operation
  if (!needsWaiter || attendance !== 'waiting' || watches !== undefined || task.ending !== undefined) return
  if (operation.unwatchedAt !== undefined || task.record === 'refused') return
  engine.live.unwatched.add(operation, engine.clock.monotonic())
  if (!engine.timers.has('no-waiter')) engine.timers.set('no-waiter', engine.noWaiterGraceMs, () => sweep(engine))
}

/** The operation has a watcher or needs none: if it had lapsed and its task is still open, it counts again. */
export function takeUp(engine: EngineState, operation: Operation): void {
  engine.live.unwatched.delete(operation)
  const { attendance, task, name } = operation
  if (attendance !== 'lapsed' || task.ending !== undefined || task.state === 'stopping') return
  moveAttendance(operation, 'rejoin')
  engine.dispatch({ kind: 'join', task: task.id, waiter: name })
}

/** Releases the reference to the task. A watcher can restore it: the journal does not record this. */
export function lapse(engine: EngineState, operation: Operation): void {
  engine.live.unwatched.delete(operation)
  if (operation.attendance !== 'waiting' || operation.task.ending !== undefined) return
  moveAttendance(operation, 'lapse')
  engine.dispatch({ kind: 'leave', task: operation.task.id, waiter: operation.name })
}

function sweep(engine: EngineState): void {
  const { unwatched } = engine.live
  const before = engine.clock.monotonic() - engine.noWaiterGraceMs
  for (let { oldest } = unwatched; oldest !== undefined; { oldest } = unwatched) {
    const since = oldest.unwatchedAt ?? 0
    if (since > before) return engine.timers.set('no-waiter', since - before, () => sweep(engine))
    lapse(engine, oldest)
  }
}
