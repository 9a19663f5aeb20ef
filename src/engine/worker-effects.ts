/** Effects that concern a worker rather than the state of a task. */
import { attemptId, sameFencing } from '../model/fencing.ts'
import type { Effect } from '../scheduler/model/effects.ts'
import type { EngineState } from './engine-state.ts'
import type { LiveTask } from './tasks/live-task.ts'
import { viewOfLink } from './workers/worker-links.ts'
import type { WorkerSession } from './workers/worker-session.ts'

type Of<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>

export function notifyWorker(engine: EngineState, worker: string, call: (session: WorkerSession) => void): void {
  const link = engine.links.find(worker)
  if (link !== undefined) engine.outward.push({ call: () => call(link.session) })
}

export function stopAttempt(engine: EngineState, { task: id, worker, fencing, why }: Of<'stop'>): void {
  const task = engine.live.tasks.get(id)
  const isCurrent = task?.fencing !== undefined && sameFencing(task.fencing, fencing)
  if (isCurrent && !task.isDelivered) {
    // The lease was not sent, so the worker cannot confirm the stop.
    engine.events.push({ kind: 'finished', task: id, worker, fencing, outcome: { kind: 'stopped' } })
    return
  }
  notifyWorker(engine, worker, (session) => session.stop(attemptId(id, fencing), why))
}

export function supersedeReport(task: LiveTask, { fencing, worker }: Of<'superseded'>): void {
  const { report } = task
  // Another worker reported under the lease of this task. The report of the lease's holder counts.
  if (task.fencing !== undefined && sameFencing(task.fencing, fencing) && task.worker !== worker) return
  // The report of a task that has an end is that end, and is answered when the end is durable.
  if (report === undefined || task.ending !== undefined || !sameFencing(report.fencing, fencing)) return
  task.report = undefined
  report.answer('superseded')
}

/** A worker that registers again is OFFLINE during that event only: then its link stays. */
export function workerChanged(engine: EngineState, { worker, state, what }: Of<'worker'>): void {
  const link = engine.links.find(worker)
  if (link === undefined) return
  const isTrouble = state === 'DEGRADED' || (state === 'OFFLINE' && link.state !== 'OFFLINE')
  engine.log[isTrouble ? 'warn' : 'debug']({ worker, state, what }, 'a worker changed')
  link.state = state
  link.what = what
  if (state !== 'OFFLINE') return
  const call = (): void => {
    if (link.state !== 'OFFLINE') return
    if (!link.isLeaving) engine.lost.add(viewOfLink(link, 0), engine.clock.now())
    engine.links.drop(link)
  }
  engine.outward.push({ call })
}
