/** What each effect of the scheduler does to what the engine knows. Nothing leaves from here. */

import { attemptId, sameFencing } from '../../model/fencing.ts'
import type { Effect } from '../../scheduler/model/effects.ts'
import type { EngineState } from '../state/engine-state.ts'
import type { LiveTask } from '../tasks/live-task.ts'
import { viewOfLink } from '../workers/worker-link.ts'
import type { WorkerSession } from '../workers/worker-session.ts'
import { join, refuseAdmission } from './admit.ts'
import { endingOf, isReported } from './end-task.ts'
import { bringHome } from './persist-result.ts'

type Of<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>

export function carryOut(engine: EngineState, effect: Effect): void {
  switch (effect.kind) {
    case 'worker':
      return noteWorker(engine, effect)
    case 'order':
      return tellWorker(engine, effect.worker, (session) => session.order(effect.order))
    case 'begin':
      return tellWorker(engine, effect.worker, (session) => session.begin(attemptId(effect.task, effect.fencing)))
    case 'stop':
      return stop(engine, effect)
    case 'merged':
      return join(engine, effect)
  }
  const task = engine.live.tasks.get(effect.task)
  if (task !== undefined) changeTask(engine, task, effect)
}

type OfTask = Exclude<Effect, { kind: 'worker' | 'order' | 'begin' | 'stop' | 'merged' }>

function changeTask(engine: EngineState, task: LiveTask, effect: OfTask): void {
  switch (effect.kind) {
    case 'refused':
      return refuseAdmission(engine, task, effect)
    case 'superseded':
      return supersede(task, effect)
    case 'raised':
      task.priority = effect.priority
      break
    case 'queued':
      queue(engine, task, effect)
      break
    case 'leased':
      if (engine.isClosing) return // nobody is told, and after the restart it is queued as before
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
      engine.recorder.mark(task)
      return
  }
  engine.recorder.mark(task)
  engine.watches.markDue(task)
}

function queue(engine: EngineState, task: LiveTask, { faults, attempt }: Of<'queued'>): void {
  const isFirst = task.state === 'pending'
  if (!isFirst) task.course++
  // A lease that was taken back, or refused for lack of a slot, was no attempt.
  const attempts = task.attemptsBefore + attempt - 1
  if (attempts < task.attempt) endLease(engine, task)
  else giveBackLease(engine, task)
  task.attempt = attempts
  answerReport(task)
  task.faults = faults ?? task.faults
  task.state = 'queued'
  task.queuedAt = engine.now
}

function lease(engine: EngineState, task: LiveTask, effect: Of<'leased'>): void {
  const { worker, fencing, prefetch } = effect
  endLease(engine, task) // one that was only staged, and recalled
  task.state = 'assigned'
  task.worker = worker
  task.fencing = fencing
  task.attempt = task.attemptsBefore + effect.attempt
  task.assignedAt = engine.now
  task.startedAt = undefined
  task.isDelivered = false
  task.meter.waited(engine.now - task.queuedAt)
  const expiresAt = engine.now + (effect.expiresAt - engine.instant)
  engine.outward.push({ task, worker, fencing, expiresAt, prefetch })
}

function retry(engine: EngineState, task: LiveTask, { what, faults, lostWorkers, dueAt }: Of<'retrying'>): void {
  engine.log.warn(
    { task: task.id, attempt: task.attempt, worker: task.worker, what },
    'attempt failed, task will be retried',
  )
  giveBackLease(engine, task)
  answerReport(task)
  task.state = 'retrying'
  task.reason = what
  task.lostWorkers = lostWorkers
  task.faults = faults
  task.dueAt = Math.ceil(engine.now + (dueAt - engine.instant)) // on record times are whole
  task.course++
}

/** It was heard and judged, and the task goes on. */
function answerReport(task: LiveTask): void {
  task.report?.answer('applied')
  task.report = undefined
}

/** Its state stays what it was: that it is over is told only when that is durable. */
function finish(engine: EngineState, task: LiveTask, effect: Of<'finished'>): void {
  const { report } = task
  const ending = endingOf(engine, task, effect)
  task.ending = ending
  if (effect.state === 'failed') engine.log.warn({ task: task.id, why: effect.why, what: effect.what }, 'task failed')
  const isReportApplied = isReported(effect, report)
  if (!isReportApplied) answerReport(task)
  const { worker, fencing } = task
  if (isReportApplied) clearLease(task)
  else endLease(engine, task)
  task.worker = worker // the last worker that held the task, and the fencing number of its result
  task.fencing = fencing
  if (task.record === 'refused') engine.live.tasks.delete(task.id)
  bringHome(engine, task, ending)
}

/** It came to nothing. */
function giveBackLease(engine: EngineState, task: LiveTask): void {
  if (task.fencing !== undefined && task.startedAt === undefined) task.unstarted++
  endLease(engine, task)
}

/** Its worker may still report under it. */
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

function supersede(task: LiveTask, { fencing, worker }: Of<'superseded'>): void {
  const { report } = task
  // Another worker named the lease that this task has: the report of its holder stands.
  if (task.fencing !== undefined && sameFencing(task.fencing, fencing) && task.worker !== worker) return
  // The report of a task that has an end is that end, and is answered when it is on record.
  if (report === undefined || task.ending !== undefined || !sameFencing(report.fencing, fencing)) return
  task.report = undefined
  report.answer('superseded')
}

function stop(engine: EngineState, { task: id, worker, fencing, why }: Of<'stop'>): void {
  const task = engine.live.tasks.get(id)
  const isCurrent = task?.fencing !== undefined && sameFencing(task.fencing, fencing)
  if (isCurrent && !task.isDelivered) {
    // The worker never heard of it, so there is nobody who could confirm.
    engine.events.push({ kind: 'finished', task: id, worker, fencing, outcome: { kind: 'stopped' } })
    return
  }
  tellWorker(engine, worker, (session) => session.stop(attemptId(id, fencing), why))
}

function tellWorker(engine: EngineState, worker: string, tell: (session: WorkerSession) => void): void {
  const link = engine.links.find(worker)
  if (link !== undefined) engine.outward.push({ call: () => tell(link.session) })
}

/** One that has registered again is offline for no longer than the event takes. */
function noteWorker(engine: EngineState, { worker, state, what }: Of<'worker'>): void {
  const link = engine.links.find(worker)
  if (link === undefined) return
  const isTrouble = state === 'DEGRADED' || (state === 'OFFLINE' && link.state !== 'OFFLINE')
  engine.log[isTrouble ? 'warn' : 'debug']({ worker, state, what }, 'a worker changed')
  link.state = state
  link.what = what
  if (state === 'OFFLINE')
    engine.outward.push({
      call: () => {
        if (link.state !== 'OFFLINE') return
        if (!link.isLeaving) engine.lost.add(viewOfLink(link, 0), engine.clock.now())
        engine.links.drop(link)
      },
    })
}
