import type { Clock } from '../../base/clock.ts'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { ExecutedActionMetadata } from '../../model/action-result.ts'
import type { Limits } from '../../model/command.ts'
import type { CommandTask, StageResult, StageUsage, TaskResult } from '../../model/command-task.ts'
import type { Room, Runtime } from '../../runtimes/run/runtime.ts'
import type { InputStage, StagedInputs } from '../inputs/stage-inputs.ts'
import type { BlobTarget } from '../outputs/blob-target.ts'
import { type Collected, NO_OUTPUTS, type OutputCollector } from '../outputs/output-collector.ts'
import { storeAtLast } from '../outputs/persistent-store.ts'
import type { OpenRoom, Rooms } from '../rooms/rooms.ts'
import type { Attempt, Executor, FoundStage } from './executor.ts'
import { runStages } from './run-stages.ts'

export interface LocalTools {
  readonly rooms: Rooms
  readonly inputs: InputStage
  readonly runtime: Runtime
  readonly outputs: OutputCollector
  readonly target: BlobTarget
  readonly clock: Clock
  /** The upper limits of this worker, for every task. */
  readonly limits: Limits
  /** Standard output and error of an action are in its result up to this length. */
  readonly inlineBytes: number
  /** Hashes output that is stored as a blob. */
  readonly digestOf: (fn: DigestFunction, bytes: Uint8Array) => Digest
  /** Encodes the usage of an action for its result; without it the result of an action has none. */
  readonly usageMessage?: (usage: StageUsage) => UsageMessage
}

type UsageMessage = ExecutedActionMetadata['auxiliary'][number]

/** Prepares a room, runs the stages, collects the outputs and reports the result. The room is removed on every exit. */
export const localExecutor = (tools: LocalTools): Executor => ({
  async execute(attempt, signal) {
    const { task, begun, note = () => {} } = attempt
    try {
      await using room = attempt.room ?? openRoom(attempt, tools, signal)
      note('inputFetchStart')
      const prepared = await prepare(attempt, { tools, room }, signal)
      using staged = prepared.staged
      note('inputFetchCompleted')
      if (begun !== undefined) await passing(begun, signal)
      note('executionStart')
      const ran = await runStages({ attempt: prepared.attempt, room, staged }, tools, signal)
      note('executionCompleted', 'outputUploadStart')
      const collected = await collect({ task, room, stages: ran.stages }, tools, signal)
      const blobs = [...collected.blobs, ...ran.blobs]
      if (blobs.length > 0) await storeAtLast(blobs, tools, signal)
      note('outputUploadCompleted')
      return report({ task, stages: ran.stages, usageMessage: tools.usageMessage }, collected)
    } catch (error) {
      throw signal.aborted ? cancelled(error) : error
    }
  },
})

function openRoom({ name }: Attempt, { runtime, rooms }: LocalTools, signal: AbortSignal): OpenRoom {
  signal.throwIfAborted()
  runtime.expect()
  return rooms.open(name)
}

interface Here {
  readonly tools: LocalTools
  readonly room: Room
}

interface Prepared {
  /** The attempt without `found` if the files of the found stage were evicted meanwhile: the stage then runs. */
  readonly attempt: Attempt
  readonly staged: StagedInputs
}

async function prepare(attempt: Attempt, { tools, room }: Here, signal: AbortSignal): Promise<Prepared> {
  const { stageCache } = attempt
  const task = stageCache?.found === undefined ? attempt.task : withFiles(attempt.task, stageCache.found)
  if (attempt.room?.placeInputs?.(task) === true) return { attempt, staged: NOTHING_HELD }
  try {
    return { attempt, staged: await tools.inputs.stage(task, room.path, signal) }
  } catch (error) {
    const isMissing = error instanceof FaultError && error.fault.kind === 'missing'
    if (stageCache?.found === undefined || !isMissing) throw error
    return await prepare({ ...attempt, stageCache: { ...stageCache, found: undefined } }, { tools, room }, signal)
  }
}

/** Holds no file of the cache. */
const NOTHING_HELD: StagedInputs = { pathOf: () => undefined, [Symbol.dispose]() {} }

function withFiles(task: CommandTask, { files }: FoundStage): CommandTask {
  const placed = [...task.inputs.placed, ...files.map((file) => ({ ...file, writable: true }))]
  return { ...task, inputs: { ...task.inputs, placed } }
}

/** Resolves when the attempt has its slot; rejects when the signal is aborted. */
async function passing(begun: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([begun, aborted(signal)])
  signal.throwIfAborted()
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

interface Ran {
  readonly task: CommandTask
  readonly room: Room
  readonly stages: readonly StageResult[]
}

/** For an action that failed, outputs are collected on a best-effort basis. */
async function collect({ task, room, stages }: Ran, tools: LocalTools, signal: AbortSignal): Promise<Collected> {
  try {
    return await tools.outputs.collect({ task, root: room.path }, signal)
  } catch (error) {
    const isTasks = error instanceof FaultError && error.fault.kind === 'invalid'
    if (stages.at(-1)?.cause !== 'ok' && isTasks) return { outputs: NO_OUTPUTS, blobs: [] }
    throw error
  }
}

const NO_STREAM = { digest: undefined, raw: undefined }

interface Reported {
  readonly task: CommandTask
  readonly stages: readonly StageResult[]
  readonly usageMessage: LocalTools['usageMessage']
}

function report({ task, stages, usageMessage }: Reported, { outputs }: Collected): TaskResult {
  const last = stages.at(-1) as StageResult
  const virtualDurationMs = stages.reduce((sum, { usage }) => sum + usage.wallMs, 0)
  const metadata = { worker: '', times: {}, virtualDurationMs, auxiliary: [] }
  if (task.action === undefined) {
    const hasSucceeded = last.cause === 'ok' && outputs.problem === undefined
    const exitCode = hasSucceeded ? 0 : last.exitCode || 1
    return { exitCode, ...outputs, stdout: NO_STREAM, stderr: NO_STREAM, metadata, stages }
  }
  return {
    exitCode: last.exitCode,
    ...outputs,
    stdout: streamOf(last.stdout),
    stderr: streamOf(last.stderr),
    metadata: { ...metadata, auxiliary: usageMessage === undefined ? [] : [usageMessage(last.usage)] },
    stages,
  }
}

const streamOf = ({ digest, inline }: StageResult['stdout']): TaskResult['stdout'] => ({
  digest,
  raw: inline?.length === 0 ? undefined : inline,
})

const cancelled = (cause: unknown): FaultError =>
  cause instanceof FaultError && cause.fault.kind === 'cancelled'
    ? cause
    : new FaultError({ kind: 'cancelled', what: 'the attempt was cancelled' }, cause)
