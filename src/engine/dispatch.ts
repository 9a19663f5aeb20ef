/**
 * Passes events to the scheduler, one after another: an event that a session or watcher causes during another event
 * waits for that one. For each event the engine first applies the effects to its state, then passes the facts to the
 * journal, and only then sends leases and messages to workers. So no message is sent before its facts were passed to
 * the journal.
 */
import { attemptId, sameFencing } from '../model/fencing.ts'
import { applyEffect } from './apply-effects.ts'
import type { EngineState } from './engine-state.ts'
import { flushFacts } from './record.ts'
import type { GrantedLease, LiveTask } from './tasks/live-task.ts'
import { isDurable } from './tasks/record-state.ts'
import { callSession, pollsOf, type SessionLink } from './workers/worker-links.ts'
import type { TaskLease } from './workers/worker-session.ts'

export function dispatchAll(engine: EngineState): void {
  if (engine.isBusy) return
  engine.isBusy = true
  try {
    do {
      applyEvents(engine)
      flushFacts(engine)
      deliver(engine)
    } while (engine.events.length > 0 || engine.live.changed.length > 0 || engine.outward.length > 0)
  } finally {
    engine.isBusy = false
  }
  armTick(engine)
}

/** Passes the queued events to the scheduler and applies their effects; facts and messages stay queued. */
export function applyEvents(engine: EngineState): void {
  const { events, clock } = engine
  engine.now = clock.now()
  engine.instant = clock.monotonic()
  for (let i = 0; i < events.length; i++) {
    const event = events[i]
    if (event === undefined) continue
    try {
      for (const effect of engine.scheduler.apply(event, engine.instant)) applyEffect(engine, effect)
    } catch (error) {
      engine.log.error({ error, event: event.kind }, 'scheduler failed')
    }
  }
  events.length = 0
}

/** Makes the calls to workers in order; the leases of one worker are sent together. */
function deliver(engine: EngineState): void {
  const { outward } = engine
  if (outward.length === 0) return
  engine.outward = []
  const links: SessionLink[] = []
  for (const item of outward) {
    if ('call' in item) {
      callSession(engine.log, item.call)
      continue
    }
    const link = prepareLease(engine, item)
    if (link !== undefined && link.batch.length === 1) links.push(link)
  }
  for (const link of links) sendLeases(engine, link)
}

/** Adds the lease to the batch of its worker, if it is still valid. */
function prepareLease(engine: EngineState, granted: GrantedLease): SessionLink | undefined {
  const { task, worker, fencing, expiresAt, prefetch } = granted
  const isCurrent = task.fencing !== undefined && sameFencing(task.fencing, fencing)
  if (!isCurrent || task.state === 'stopping' || task.record === 'refused') return undefined
  if (!isDurable(task) && !task.accepted.mayStartEarly) {
    task.heldLease = granted
    return undefined
  }
  const link = engine.links.find(worker)
  if (link === undefined) {
    const what = 'its worker could not be reached'
    engine.events.push({ kind: 'returned', task: task.id, worker, fencing, what, undelivered: true })
    return undefined
  }
  task.isDelivered = true
  task.attemptId = attemptId(task.id, fencing)
  const { instance, origin, timeoutMs } = task.accepted
  link.batch.push({
    attemptId: task.attemptId,
    task: task.id,
    attempt: task.attempt,
    operation: openOperation(task),
    instance,
    origin,
    spec: task.spec,
    timeoutMs,
    expiresAt,
    queuedAt: task.queuedAt,
    prefetch,
  })
  return link
}

/** Returns the name of an operation that is still open. */
const openOperation = ({ first, merged }: LiveTask): string =>
  (first.attendance === 'waiting' ? first : (merged?.find(({ attendance }) => attendance === 'waiting') ?? first)).name

function sendLeases(engine: EngineState, link: SessionLink): void {
  const { batch, description } = link
  link.batch = []
  if (description.pulls) return answerPolls(engine, link, batch)
  if (callSession(engine.log, () => link.session.lease(batch))) return
  // Otherwise the scheduler would grant the next lease to the same broken session at once.
  engine.events.push({ kind: 'disconnected', worker: description.worker })
  returnLeases(engine, link, batch)
}

function answerPolls(engine: EngineState, link: SessionLink, batch: readonly TaskLease[]): void {
  let sent = 0
  while (sent < batch.length) {
    const poll = link.polls.shift()
    if (poll === undefined) break
    const leases = batch.slice(sent, sent + poll.tasks)
    sent += leases.length
    if (!callSession(engine.log, () => poll.answer(leases))) returnLeases(engine, link, leases)
  }
  // The worker has withdrawn the poll meanwhile.
  if (sent < batch.length) returnLeases(engine, link, batch.slice(sent))
  const { worker } = link.description
  if (link.polls.length > 0) engine.events.push({ kind: 'ask', worker, tasks: pollsOf(link) })
}

function returnLeases(engine: EngineState, { description: { worker } }: SessionLink, leases: readonly TaskLease[]) {
  const what = 'its lease could not be sent'
  for (const { task } of leases) {
    const fencing = engine.live.tasks.get(task)?.fencing
    if (fencing !== undefined) engine.events.push({ kind: 'returned', task, worker, fencing, what, undelivered: true })
  }
}

/** A timer that fires later than this was delayed by a blocked event loop: heartbeats may be waiting in the sockets. */
const STALL_MS = 1000
/** Far below the limit of `setTimeout`, which is 2^31 - 1 ms. */
const LONGEST_MS = 60 * 60 * 1000

/** Sets the timer for the next event that is due by time alone. */
function armTick(engine: EngineState): void {
  const due = engine.scheduler.nextDue()
  if (due === undefined || due >= engine.tickAt || engine.isClosing) return
  engine.tickAt = due
  engine.timers.set('tick', Math.min(LONGEST_MS, due - engine.clock.monotonic()), () => tick(engine, due))
}

function tick(engine: EngineState, due: number): void {
  engine.tickAt = Number.POSITIVE_INFINITY
  if (engine.clock.monotonic() - due <= STALL_MS) return engine.dispatch({ kind: 'tick' })
  // Leases must not expire before the waiting heartbeats are read. Reading takes one turn; a message in two parts, two.
  setImmediate(() => setImmediate(() => engine.dispatch({ kind: 'tick' })))
}
