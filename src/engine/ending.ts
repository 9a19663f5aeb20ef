/** From the scheduler's word that a task is over to the moment when it is told: once, and only when it is durable. */
import { sameFencing } from '../model/fencing.ts'
import type { Effect } from '../scheduler/model/effects.ts'
import { sealEnd } from './end-envelope.ts'
import type { Ending, LiveTask, Operation, Report } from './live-task.ts'
import { endInputs } from './sending-inputs.ts'
import type { Shell } from './shell.ts'
import { markDue } from './watching.ts'

type Finished = Extract<Effect, { kind: 'finished' }>

/** The end is what the worker said it was. A task that was cancelled has no result, whatever its worker says. */
export const isReported = ({ fencing, state }: Finished, report: Report | undefined): report is Report =>
  report !== undefined && fencing !== undefined && state !== 'cancelled' && sameFencing(report.fencing, fencing)

export function endingOf(shell: Shell, task: LiveTask, effect: Finished): Ending {
  const { state, why, what } = effect
  const report = isReported(effect, task.report) ? task.report : undefined
  const roots = report?.roots ?? []
  const { queuedAt, startedAt, unstarted } = task
  const envelope = sealEnd({ why, queuedAt, startedAt, unstarted, cached: false, result: report?.result, roots })
  const size = report?.result?.length
  return {
    state,
    why,
    what,
    at: shell.now,
    fencing: report && effect.fencing,
    result: size === undefined ? undefined : envelope.subarray(envelope.length - size),
    roots,
    envelope,
    goesToCache: state === 'completed' && report?.succeeded === true && task.cacheable && task.actionKey !== undefined,
  }
}

/** Both the task and its end are durable: then everybody who waits is told. */
export function conclude(shell: Shell, task: LiveTask): void {
  const { ending } = task
  if (ending === undefined) return
  keepOutputs(shell, task, ending)
  wake(shell, task, ending)
}

function wake(shell: Shell, task: LiveTask, ending: Ending): void {
  shell.tasks.delete(task.id)
  if (shell.over.push(task) === 1) setImmediate(() => forgetNames(shell))
  const ranFrom = task.startedAt ?? task.assignedAt
  task.meter.ended(ending.state, ranFrom === undefined ? undefined : ending.at - ranFrom)
  answerReports(task, 'applied')
  task.output?.end()
  endInputs(task)
  markDue(shell, task)
}

export function answerReports(task: LiveTask, verdict: 'applied' | 'superseded'): void {
  task.report?.answer(verdict)
  task.report = undefined
  for (const report of task.repeated ?? []) report.answer(verdict)
  task.repeated = undefined
}

/** From here on it is the journal that knows it. */
export function letGo(shell: Shell, task: LiveTask): void {
  shell.tasks.delete(task.id)
  letGoOperation(shell, task.first)
  if (task.merged !== undefined) for (const operation of task.merged) letGoOperation(shell, operation)
}

function letGoOperation(shell: Shell, operation: Operation): void {
  shell.operations.delete(operation.name)
  shell.unwatched.delete(operation)
}

/**
 * Acknowledgement and end may leave in the same turn, and who has the one is about to ask for the other: that must not
 * take a question to the disk.
 */
function forgetNames(shell: Shell): void {
  const { over } = shell
  shell.over = []
  for (const task of over) letGo(shell, task)
}

function keepOutputs(shell: Shell, task: LiveTask, { roots, at }: Ending): void {
  if (shell.roots === undefined) return
  if (roots.length > 0) {
    shell.roots.hold(task.id, 'outputs', roots)
    shell.keptOutputs.set(task.id, at)
  }
  if (task.hasRoots) shell.roots.release(task.id, 'inputs')
}
