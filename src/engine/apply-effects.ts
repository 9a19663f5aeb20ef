/**
 * Applies the effects of the scheduler to the tasks in memory. Calls to workers and the journal are only queued here.
 */
import { attemptId, sameFencing } from '../model/fencing.ts'
import type { Effect } from '../scheduler/model/effects.ts'
import { mergeTask, refuseTask } from './admission.ts'
import type { EngineState } from './engine-state.ts'
import { sealEnd } from './tasks/envelopes.ts'
import type { Ending, Report } from './tasks/live-parts.ts'
import type { LiveTask } from './tasks/live-task.ts'
import { markDue } from './watches.ts'
import { notifyWorker, stopAttempt, supersedeReport, workerChanged } from './worker-effects.ts'

type Of<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>

export function applyEffect(engine: EngineState, effect: Effect): void {
  switch (effect.kind) {
    case 'worker':
      return workerChanged(engine, effect)
    case 'order':
      return notifyWorker(engine, effect.worker, (session) => session.order(effect.order))
    case 'begin':
      return notifyWorker(engine, effect.worker, (session) => session.begin(attemptId(effect.task, effect.fencing)))
    case 'stop':
      return stopAttempt(engine, effect)
    case 'merged':
      return mergeTask(engine, effect)
  }
  const task = engine.live.tasks.get(effect.task)
  if (task === undefined) return
  if (effect.kind === 'refused') refuseTask(engine, task, effect)
  else if (effect.kind === 'superseded') supersedeReport(task, effect)
  else changeTask(engine, task, effect)
}

type Change = Of<'raised' | 'queued' | 'leased' | 'started' | 'retrying' | 'stopping' | 'finished'>

function changeTask(engine: EngineState, task: LiveTask, effect: Change): void {
  switch (effect.kind) {
    case 'raised':
      task.priority = effect.priority
      break
    case 'queued':
      queue(engine, task, effect)
      break
    case 'leased':
      if (engine.isClosing) return // the lease is not sent, and after the restart the task is queued as before
      lease(engine, task, effect)
      break
    case 'started':
      task.state = 'running'
      task.startedAt = engine.now
      break
    case 'retrying':
      retry(engine, task, effect)
      break
    case 'stopping':
      task.state = 'stopping'
      task.isCancelRequested = true
      break
    case 'finished':
      finish(engine, task, effect)
      return engine.live.markChanged(task) // watchers are notified when the end is durable
  }
  engine.live.markChanged(task)
  markDue(engine, task)
}

function queue(engine: EngineState, task: LiveTask, { faults, attempt }: Of<'queued'>): void {
  if (task.state !== 'pending') task.requeues++
  // A lease that was recalled, or refused for lack of a slot, does not count as an attempt.
  const attempts = task.accepted.attemptsBefore + attempt - 1
  if (attempts < task.attempt) endLease(engine, task)
  else endFailedLease(engine, task)
  task.attempt = attempts
  answerReport(task)
  task.faults = faults ?? task.faults
  task.state = 'queued'
  task.queuedAt = engine.now
}

function lease(engine: EngineState, task: LiveTask, effect: Of<'leased'>): void {
  const { worker, fencing, prefetch } = effect
  endLease(engine, task) // the attempt was only staged, and recalled
  task.state = 'assigned'
  task.worker = worker
  task.fencing = fencing
  task.attempt = task.accepted.attemptsBefore + effect.attempt
  task.assignedAt = engine.now
  task.startedAt = undefined
  task.isDelivered = false
  task.accepted.meter.waited(engine.now - task.queuedAt)
  const expiresAt = engine.now + (effect.expiresAt - engine.instant)
  engine.outward.push({ task, worker, fencing, expiresAt, prefetch })
}

function retry(engine: EngineState, task: LiveTask, { what, faults, lostWorkers, dueAt }: Of<'retrying'>): void {
  const { id, attempt, worker } = task
  engine.log.warn({ task: id, attempt, worker, what }, 'attempt failed, task will be retried')
  endFailedLease(engine, task)
  answerReport(task)
  task.state = 'retrying'
  task.reason = what
  task.lostWorkers = lostWorkers
  task.faults = faults
  task.dueAt = Math.ceil(engine.now + (dueAt - engine.instant)) // the journal stores whole milliseconds
  task.requeues++
}

function answerReport(task: LiveTask): void {
  task.report?.answer('applied')
  task.report = undefined
}

/** The state of the task does not change here: callers are notified of the end when it is durable. */
function finish(engine: EngineState, task: LiveTask, effect: Of<'finished'>): void {
  const { worker, fencing } = task
  const report = appliedReport(effect, task.report)
  const ending = endingOf(engine, task, { effect, report })
  task.ending = ending
  if (effect.state === 'failed') engine.log.warn({ task: task.id, why: effect.why, what: effect.what }, 'task failed')
  if (report === undefined) {
    answerReport(task)
    endLease(engine, task)
  } else clearLease(task)
  task.worker = worker // the last worker that held the task, and the fencing number of its result
  task.fencing = fencing
  if (task.record === 'refused') engine.live.tasks.delete(task.id)
  else persistResult(engine, task, ending)
}

/** Returns the report if it caused the end. A cancelled task has no result, even if its worker reports one. */
const appliedReport = ({ fencing, state }: Of<'finished'>, report: Report | undefined): Report | undefined =>
  fencing !== undefined && state !== 'cancelled' && report && sameFencing(report.fencing, fencing) ? report : undefined

interface Finish {
  readonly effect: Of<'finished'>
  readonly report: Report | undefined
}

function endingOf({ now }: EngineState, task: LiveTask, { effect, report }: Finish): Ending {
  const { state, why, what, fencing } = effect
  const { queuedAt, startedAt, unstarted, accepted } = task
  const { result, roots = [] } = report ?? {}
  const hasSucceeded = state === 'completed' && report?.succeeded === true
  const envelope = sealEnd({ why, queuedAt, startedAt, unstarted, cached: false, result, roots })
  return {
    state,
    why,
    what,
    at: now,
    fencing: report && fencing,
    result: result && envelope.subarray(envelope.length - result.length),
    roots,
    envelope,
    isUnsuccessful: !hasSucceeded,
    isCacheable: hasSucceeded && accepted.cacheable && accepted.actionKey !== undefined,
  }
}

/**
 * Persists a result before the task's end is recorded: the action cache gets the result and, for durability `power`,
 * the blobs that it names are synced to disk. After a crash, a recorded end therefore always has its result. The
 * opposite order is harmless: if the cache has the result of a task that runs once more, that result answers the same
 * request.
 */
function persistResult(engine: EngineState, task: LiveTask, ending: Ending): void {
  const needsSync = task.durability === 'power' && ending.roots.length > 0 && engine.roots?.makeDurable !== undefined
  if (!needsSync && !(ending.isCacheable && engine.results !== undefined)) return
  task.isPersistingResult = true
  engine.writes.begin() // closing the engine waits for this as it waits for journal writes
  void syncAndCache(engine, task, ending).then(() => {
    task.isPersistingResult = false
    engine.live.markChanged(task)
    engine.dispatch()
    engine.writes.done()
  })
}

/** Never rejects: the task has ended, and its end is recorded even if the cache or the disk fails. */
async function syncAndCache(
  engine: EngineState,
  task: LiveTask,
  { roots, result, isCacheable }: Ending,
): Promise<void> {
  const { id, durability, accepted } = task
  try {
    if (durability === 'power' && roots.length > 0) await engine.roots?.makeDurable?.(roots)
  } catch (error) {
    engine.log.error({ error, task: id }, 'cannot sync the outputs of a result to disk')
  }
  try {
    const { instance, actionKey } = accepted
    if (isCacheable && actionKey !== undefined)
      await engine.results?.put(instance, actionKey, result ?? new Uint8Array())
  } catch (error) {
    engine.log.warn({ error, task: id }, 'cannot store a result in the action cache')
  }
}

/** The attempt failed or was returned. */
function endFailedLease(engine: EngineState, task: LiveTask): void {
  if (task.fencing !== undefined && task.startedAt === undefined) task.unstarted++
  endLease(engine, task)
}

/** Ends a lease under which the worker may still report. */
function endLease({ formerLeases }: EngineState, task: LiveTask): void {
  const { fencing, worker } = task
  if (fencing === undefined) return
  if (worker !== undefined) formerLeases.add(task.attemptId ?? attemptId(task.id, fencing), worker)
  clearLease(task)
}

function clearLease(task: LiveTask): void {
  task.fencing = undefined
  task.attemptId = undefined
  task.worker = undefined
  task.isDelivered = false
}
