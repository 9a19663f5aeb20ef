import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { LocalEngine } from '../../engine/engine.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import { type CommandTask, PLACES_PROPERTY, type StageResult } from '../../model/command-task.ts'
import { NETWORK_PROPERTY, type NetworkGrants, networkRefusal } from '../../model/properties/network-grants.ts'
import { commandResultFromProto } from '../../wire/tasks/command-task-result.ts'
import { commandTaskRequest } from '../execution/task-request.ts'
import type { StepEnd, StepGrid, StepProgress, StepResult, StepTask } from './driver/step-grid.ts'

export interface EngineStepsOptions {
  readonly engine: LocalEngine
  readonly clock: Clock
  readonly grants: NetworkGrants
}

/** The wait after a temporary refusal that names no time. */
const RETRY_MS = 1000

/**
 * Steps as tasks of the grid. Their names derive from the run and the path, so that a restarted server finds them
 * again.
 */
export const engineSteps = ({ engine, clock, grants }: EngineStepsOptions): StepGrid => ({
  async run(step, progressed, signal) {
    const operation = operationOf(step)
    const known = step.mayBeKnown ? await engine.find(LOCAL_CALLER, operation) : undefined
    const status = known ?? (await submitted(step, { engine, clock, grants, signal }))
    return resultOf(status.end === undefined ? await ended(operation, { engine, progressed, signal }) : status, step)
  },
  runsImages: (inPlaces) => isOffered(engine, inPlaces ? PLACES_PROPERTY : IMAGE),
})

const isOffered = (engine: LocalEngine, wanted: string): boolean =>
  engine.workers.list().some(({ properties }) => properties.some(({ name }) => name === wanted))

const IMAGE = 'container-image'

/** Hashed: a path may be long and contains slashes. */
const operationOf = ({ submission, path }: StepTask): string =>
  `${submission}-${createHash('sha256').update(path).digest('hex').slice(0, 24)}`

interface SubmitTools extends EngineStepsOptions {
  readonly signal: AbortSignal
}

/**
 * The step with or without a network. Every tool of CWL v1.0 implies a network, and a hint may be ignored: only a
 * requirement fails where the operator grants none.
 */
function networked(step: StepTask, { engine, grants }: SubmitTools): CommandTask {
  const { task, instance, requiresNetwork } = step
  if (task.stages.every(({ network }) => !network)) return task
  const isGranted = grants('cwl', instance)
  if (requiresNetwork && !isGranted) throw new FaultError({ kind: 'denied', what: networkRefusal('cwl', instance) })
  if (isGranted && (requiresNetwork || isOffered(engine, NETWORK_PROPERTY))) return task
  return { ...task, stages: task.stages.map((stage) => ({ ...stage, network: false })) }
}

async function submitted(step: StepTask, tools: SubmitTools): Promise<OperationStatus> {
  const { engine, clock, signal } = tools
  const { instance, submission, path, priority } = step
  const task = networked(step, tools)
  const order = commandTaskRequest(task, {
    ...{ instance, invocation: submission, priority, origin: 'step' },
    operation: operationOf(step),
    note: Buffer.from(path),
    whileDraining: true,
    mayStartEarly: task.stages.every(({ network }) => !network),
  })
  for (;;) {
    if (signal.aborted) throw cancelled()
    try {
      return await engine.submit(LOCAL_CALLER, order)
    } catch (error) {
      const fault = error instanceof FaultError ? error.fault : undefined
      if (fault?.kind !== 'exhausted' && fault?.kind !== 'unavailable') throw error
      // A full queue or a slow disk must not fail a whole workflow.
      const ms = fault.kind === 'exhausted' ? fault.retryAfterMs : RETRY_MS
      await new Promise<void>((resolve) => void clock.after(ms, resolve))
    }
  }
}

interface WatchTools {
  readonly engine: LocalEngine
  readonly progressed: (progress: StepProgress) => void
  readonly signal: AbortSignal
}

function ended(operation: string, { engine, progressed, signal }: WatchTools): Promise<OperationStatus> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      engine.cancel(LOCAL_CALLER, operation, { what: 'its submission is over' }).catch(() => {})
      stop()
      reject(cancelled())
    }
    const settle = (): void => signal.removeEventListener('abort', cancel)
    const stop = engine.watch(LOCAL_CALLER, operation, {
      notify(status) {
        if (status.end === undefined) {
          progressed({ operation, state: stateOf(status), startedAt: status.startedAt })
          return
        }
        settle()
        resolve(status)
      },
      failed(error) {
        settle()
        reject(error)
      },
    })
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
  })
}

const stateOf = ({ state }: OperationStatus): StepProgress['state'] =>
  state === 'running' || state === 'stopping' ? 'running' : state === 'retrying' ? 'retrying' : 'queued'

const cancelled = (): FaultError => new FaultError({ kind: 'cancelled', what: 'it was cancelled' })

function resultOf({ end, operation }: OperationStatus, { task }: StepTask): StepResult {
  if (end?.result !== undefined) {
    const { stages, outputs } = commandResultFromProto(end.result, task.fn)
    return { result: { stage: stageOf(stages.at(-1)), outputs }, cached: end.cached, operation }
  }
  if (end?.state === 'cancelled') throw cancelled()
  throw new FaultError({ kind: 'unavailable', what: end?.what ?? 'it has no result' })
}

const stageOf = (stage: StageResult | undefined): StepEnd['stage'] => {
  if (stage === undefined) return undefined
  const { cause, exitCode, reason } = stage
  return { cause, exitCode, reason }
}
