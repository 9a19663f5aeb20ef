/** What each effect of the scheduler does to what the engine knows. Nothing leaves from here. */
import { attemptId, sameFencing } from '../model/fencing.ts'
import type { Effect } from '../scheduler/model/effects.ts'
import { join, refuseAdmission } from './admitting.ts'
import { bringHome } from './bringing-home.ts'
import { endingOf, isReported } from './ending.ts'
import type { LiveTask } from './live-task.ts'
import { markDirty, type Shell } from './shell.ts'
import { markDue } from './watching.ts'
import { dropLink, viewOfLink } from './worker-link.ts'
import type { WorkerSession } from './worker-session.ts'

type Of<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>

export function carryOut(shell: Shell, effect: Effect): void {
  switch (effect.kind) {
    case 'worker':
      return noteWorker(shell, effect)
    case 'order':
      return tellWorker(shell, effect.worker, (session) => session.order(effect.order))
    case 'begin':
      return tellWorker(shell, effect.worker, (session) => session.begin(attemptId(effect.task, effect.fencing)))
    case 'stop':
      return stop(shell, effect)
    case 'merged':
      return join(shell, effect)
  }
  const task = shell.tasks.get(effect.task)
  if (task !== undefined) changeTask(shell, task, effect)
}

type OfTask = Exclude<Effect, { kind: 'worker' | 'order' | 'begin' | 'stop' | 'merged' }>

function changeTask(shell: Shell, task: LiveTask, effect: OfTask): void {
  switch (effect.kind) {
    case 'refused':
      return refuseAdmission(shell, task, effect)
    case 'superseded':
      return supersede(task, effect)
    case 'raised':
      task.priority = effect.priority
      break
    case 'queued':
      queue(shell, task, effect)
      break
    case 'leased':
      if (shell.isClosing) return // nobody is told, and after the restart it is queued as before
      lease(shell, task, effect)
      break
    case 'started':
      task.state = 'running'
      task.startedAt = shell.now
      break
    case 'retrying':
      retry(shell, task, effect)
      break
    case 'stopping':
      task.state = 'stopping'
      task.isCancelRequested = true
      break
    case 'finished':
      finish(shell, task, effect)
      markDirty(shell, task)
      return
  }
  markDirty(shell, task)
  markDue(shell, task)
}

function queue(shell: Shell, task: LiveTask, { faults, attempt }: Of<'queued'>): void {
  const isFirst = task.state === 'pending'
  if (!isFirst) task.course++
  // A lease that was taken back, or refused for lack of a slot, was no attempt.
  const attempts = task.attemptsBefore + attempt - 1
  if (attempts < task.attempt) endLease(shell, task)
  else giveBackLease(shell, task)
  task.attempt = attempts
  answerReport(task)
  task.faults = faults ?? task.faults
  task.state = 'queued'
  task.queuedAt = shell.now
}

function lease(shell: Shell, task: LiveTask, effect: Of<'leased'>): void {
  const { worker, fencing, prefetch } = effect
  endLease(shell, task) // one that was only staged, and recalled
  task.state = 'assigned'
  task.worker = worker
  task.fencing = fencing
  task.attempt = task.attemptsBefore + effect.attempt
  task.assignedAt = shell.now
  task.startedAt = undefined
  task.isDelivered = false
  task.meter.waited(shell.now - task.queuedAt)
  const expiresAt = shell.now + (effect.expiresAt - shell.instant)
  shell.outward.push({ task, worker, fencing, expiresAt, prefetch })
}

function retry(shell: Shell, task: LiveTask, { what, faults, lostWorkers, dueAt }: Of<'retrying'>): void {
  shell.log.warn({ task: task.id, attempt: task.attempt, worker: task.worker, what }, 'an attempt came to nothing')
  giveBackLease(shell, task)
  answerReport(task)
  task.state = 'retrying'
  task.reason = what
  task.lostWorkers = lostWorkers
  task.faults = faults
  task.dueAt = Math.ceil(shell.now + (dueAt - shell.instant)) // on record times are whole
  task.course++
}

/** It was heard and judged, and the task goes on. */
function answerReport(task: LiveTask): void {
  task.report?.answer('applied')
  task.report = undefined
}

/** Its state stays what it was: that it is over is told only when that is durable. */
function finish(shell: Shell, task: LiveTask, effect: Of<'finished'>): void {
  const { report } = task
  const ending = endingOf(shell, task, effect)
  task.ending = ending
  if (effect.state === 'failed') shell.log.warn({ task: task.id, why: effect.why, what: effect.what }, 'a task failed')
  const isReportApplied = isReported(effect, report)
  if (!isReportApplied) answerReport(task)
  const { worker, fencing } = task
  if (isReportApplied) clearLease(task)
  else endLease(shell, task)
  task.worker = worker // who had it last, and what its result came under
  task.fencing = fencing
  if (task.record === 'refused') shell.tasks.delete(task.id)
  bringHome(shell, task, ending)
}

/** It came to nothing. */
function giveBackLease(shell: Shell, task: LiveTask): void {
  if (task.fencing !== undefined && task.startedAt === undefined) task.unstarted++
  endLease(shell, task)
}

/** Its worker may still report under it. */
function endLease({ formerLeases }: Shell, task: LiveTask): void {
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

function stop(shell: Shell, { task: id, worker, fencing, why }: Of<'stop'>): void {
  const task = shell.tasks.get(id)
  const isCurrent = task?.fencing !== undefined && sameFencing(task.fencing, fencing)
  if (isCurrent && !task.isDelivered) {
    // The worker never heard of it, so there is nobody who could confirm.
    shell.events.push({ kind: 'finished', task: id, worker, fencing, outcome: { kind: 'stopped' } })
    return
  }
  tellWorker(shell, worker, (session) => session.stop(attemptId(id, fencing), why))
}

function tellWorker(shell: Shell, worker: string, tell: (session: WorkerSession) => void): void {
  const link = shell.links.get(worker)
  if (link !== undefined) shell.outward.push({ call: () => tell(link.session) })
}

/** One that has registered again is offline for no longer than the event takes. */
function noteWorker(shell: Shell, { worker, state, what }: Of<'worker'>): void {
  const link = shell.links.get(worker)
  if (link === undefined) return
  const isTrouble = state === 'DEGRADED' || (state === 'OFFLINE' && link.state !== 'OFFLINE')
  shell.log[isTrouble ? 'warn' : 'debug']({ worker, state, what }, 'a worker changed')
  link.state = state
  link.what = what
  if (state === 'OFFLINE')
    shell.outward.push({
      call: () => {
        if (link.state !== 'OFFLINE') return
        if (!link.isLeaving) shell.lost.add(viewOfLink(link, 0), shell.clock.now())
        dropLink(shell, link)
      },
    })
}
