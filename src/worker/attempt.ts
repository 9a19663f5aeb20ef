import type { Clock } from '../base/clock.ts'
import type { DigestFunction } from '../base/digest.ts'
import { FaultError } from '../base/fault.ts'
import type { ActionResult } from '../model/action-result.ts'
import type { Command, Limits } from '../model/command.ts'
import type { CommandTask } from '../model/command-task.ts'
import type { IsolationLevel } from '../model/isolation.ts'
import type { Room, RunEnd, RunHooks, Runtime } from '../runtimes/run/runtime.ts'
import { usageToAuxiliary } from '../wire/tasks/execution-usage.ts'
import type { StageResults } from './command-task/stage-cache.ts'
import type { InputStage } from './inputs/stage-inputs.ts'
import type { BlobTarget } from './outputs/blob-target.ts'
import { type Collected, type CollectOptions, collectOutputs } from './outputs/collect-outputs.ts'
import { outputStream } from './outputs/output-stream.ts'
import { storeAtLast } from './outputs/persistent-store.ts'
import type { OpenRoom, Rooms } from './rooms.ts'
import { StageTimes } from './stage-times.ts'

export interface AttemptOrder {
  /** Names the room: unlike that of any other attempt of this worker. */
  readonly name: string
  readonly command: Command
  /** What outputs are named by. */
  readonly fn: DigestFunction
  /** When its task was queued, as its time stamps are to have it. */
  readonly queuedAt: number | undefined
  readonly hooks: RunHooks
}

export interface AttemptTools {
  readonly rooms: Rooms
  readonly inputs: InputStage
  readonly runtime: Runtime
  readonly outputs: CollectOptions
  readonly target: BlobTarget
  readonly clock: Clock
  /** Of this worker, for the records. */
  readonly worker: string
  /** The most that this worker gives to anybody. */
  readonly limits: Limits
  /** Standard output and error up to this length travel in the result itself. */
  readonly inlineBytes: number
  /** Of its rooms, as the runtime found them at the start; by the name of the runtime when it is left out. */
  readonly isolation?: IsolationLevel
  /** Rooms in which something waits for tasks of this kind; none when left out. */
  readonly warm?: { take(task: CommandTask): OpenRoom | undefined }
  /** Rooms that are made before they are needed; none when left out. */
  readonly ready?: { take(task: CommandTask): Promise<OpenRoom | undefined> }
  /** Of stages that need not be run again; nothing is kept when left out. */
  readonly results?: StageResults
  /** What tells the toolchain of a language on this machine from all others; undefined where that cannot be told. */
  readonly toolchainOf?: (language: string) => string | undefined
}

/** A command that ran has a result, however it ended; `end.cause` tells a door whether it counts as one. */
export interface AttemptOutcome {
  readonly end: RunEnd
  readonly result: ActionResult
}

/**
 * One try at a command, from an empty room to a result that is stored. On every way out the room is gone and the inputs
 * are let go of. Throws a fault when there is no result: `cancelled` when the signal was aborted, at whatever stage.
 */
export async function attempt(order: AttemptOrder, tools: AttemptTools, signal: AbortSignal): Promise<AttemptOutcome> {
  const times = new StageTimes(tools.clock, order.queuedAt)
  try {
    signal.throwIfAborted()
    times.note('workerStart')
    tools.runtime.expect()
    await using room = await tools.rooms.open(order.name)
    times.note('inputFetchStart')
    using _inputs = await tools.inputs.stage(order.command, room.path, signal)
    times.note('inputFetchCompleted')
    const here = { order, tools, times, room, signal }
    const end = await run(here)
    times.note('outputUploadStart')
    const collected = await collect(here, end)
    const streams = streamsOf(end, order.fn, tools.inlineBytes)
    await storeAtLast([...collected.blobs, ...streams.blobs], tools, signal)
    times.note('outputUploadCompleted')
    times.note('workerCompleted')
    return { end, result: resultOf({ end, collected, streams, times, worker: tools.worker }) }
  } catch (error) {
    throw signal.aborted ? cancelled(error) : error
  }
}

interface Here {
  readonly order: AttemptOrder
  readonly tools: AttemptTools
  readonly times: StageTimes
  readonly room: Room
  readonly signal: AbortSignal
}

async function run({ order, tools, times, room, signal }: Here): Promise<RunEnd> {
  const { command, hooks } = order
  times.note('executionStart')
  const end = await tools.runtime.run({ command, room, limits: strictest(command.limits, tools.limits), hooks }, signal)
  times.note('executionCompleted')
  if (end.cause === 'cancelled') throw cancelled()
  return end
}

const NOTHING: Collected = {
  outputs: {
    outputFiles: [],
    outputDirectories: [],
    outputSymlinks: [],
    legacyFileSymlinks: [],
    legacyDirectorySymlinks: [],
  },
  blobs: [],
}

/** Of a command that failed what it made is still worth having (a log, a report), but not worth another fault. */
async function collect({ order, tools, room, signal }: Here, end: RunEnd): Promise<Collected> {
  const { command, fn } = order
  try {
    return await collectOutputs({ command, root: room.path, fn }, tools.outputs, signal)
  } catch (error) {
    const isTheirs = error instanceof FaultError && error.fault.kind === 'invalid'
    if (end.cause !== 'ok' && isTheirs) return NOTHING
    throw error
  }
}

type Streams = ReturnType<typeof streamsOf>

function streamsOf(end: RunEnd, fn: DigestFunction, inlineBytes: number) {
  const [stdout, stderr] = [outputStream(end.stdout, fn, inlineBytes), outputStream(end.stderr, fn, inlineBytes)]
  return { stdout: stdout.stream, stderr: stderr.stream, blobs: [...stdout.blobs, ...stderr.blobs] }
}

interface ResultParts {
  readonly end: RunEnd
  readonly collected: Collected
  readonly streams: Streams
  readonly times: StageTimes
  readonly worker: string
}

const resultOf = ({ end, collected, streams, times, worker }: ResultParts): ActionResult => ({
  exitCode: end.exitCode,
  ...collected.outputs,
  stdout: streams.stdout,
  stderr: streams.stderr,
  metadata: {
    worker,
    times: times.all(),
    virtualDurationMs: end.usage.wallMs,
    auxiliary: [usageToAuxiliary(end.usage)],
  },
})

/** Of each limit the lower one. */
export function strictest(one: Limits, other: Limits): Limits {
  const limits: { -readonly [K in keyof Limits]: Limits[K] } = {}
  for (const name of Object.keys({ ...one, ...other }) as (keyof Limits)[]) {
    const lower = Math.min(one[name] ?? Number.POSITIVE_INFINITY, other[name] ?? Number.POSITIVE_INFINITY)
    if (lower < Number.POSITIVE_INFINITY) limits[name] = lower
  }
  return limits
}

const cancelled = (cause?: unknown): FaultError =>
  cause instanceof FaultError && cause.fault.kind === 'cancelled'
    ? cause
    : new FaultError({ kind: 'cancelled', what: 'the attempt was cancelled' }, cause)
