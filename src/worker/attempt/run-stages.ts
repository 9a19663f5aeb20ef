import type { Clock } from '../../base/clock.ts'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import { type Limits, strictest } from '../../model/command.ts'
import type { CommandStage, CommandTask, StageResult, StageStream } from '../../model/command-task.ts'
import type { Output, Room, RunEnd, RunHooks, Runtime } from '../../runtimes/run/runtime.ts'
import type { StagedInputs } from '../inputs/stage-inputs.ts'
import { type OutputBlob, outputInMemory } from '../outputs/blob-target.ts'
import type { Attempt, StageHooks } from './executor.ts'
import { inputAfter, recordedInput } from './stage-input.ts'

export interface StagesRun {
  readonly attempt: Attempt
  readonly room: Room
  readonly staged: StagedInputs
}

export interface RanStages {
  readonly stages: readonly StageResult[]
  /** Output of the stages that is stored as blobs. */
  readonly blobs: readonly OutputBlob[]
}

export interface StageTools {
  readonly runtime: Runtime
  readonly clock: Pick<Clock, 'monotonic'>
  readonly limits: Limits
  readonly inlineBytes: number
  readonly digestOf: (fn: DigestFunction, bytes: Uint8Array) => Digest
}

/** Runs one stage after the other until one does not exit with 0. Throws `cancelled` when the signal was aborted. */
export async function runStages(order: StagesRun, tools: StageTools, signal: AbortSignal): Promise<RanStages> {
  const { task, hooks, timeoutMs, stageCache, room: prepared } = order.attempt
  const startedAt = tools.clock.monotonic()
  const rules = streamRules(task, tools)
  const runtime = prepared ?? tools.runtime
  const stages: StageResult[] = []
  const blobs: OutputBlob[] = []
  for (const stage of task.stages) {
    hooks.stage?.(stage.name)
    if (stages.length === 0 && stageCache?.found !== undefined) {
      stages.push(replayed(stageCache.found.result, hooks))
      continue
    }
    const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (tools.clock.monotonic() - startedAt)
    const limits = strictest(leftMs === undefined ? stage.limits : wallWithin(stage.limits, leftMs), tools.limits)
    const called = stages.length === 0 ? hooks : { ...hooks, started: () => {} }
    const end = await runStage(stage, { ...order, hooks: called, limits, runtime }, signal)
    const stdout = storedStream(end.stdout, rules, blobs)
    const stderr = storedStream(end.stderr, rules, blobs)
    const result = stageResult(stage.name, end, { stdout, stderr })
    stages.push(result)
    if (end.cause !== 'ok') break
    if (stage.cache !== undefined) await stageCache?.keep({ result, blobs, root: order.room.path }, signal)
  }
  return { stages, blobs }
}

/** Reports an earlier result as if the stage had run in 0 ms. */
function replayed(result: StageResult, hooks: StageHooks): StageResult {
  hooks.started?.()
  for (const stream of ['stdout', 'stderr'] as const) {
    const { inline } = result[stream]
    if (inline !== undefined && inline.length > 0) hooks[stream]?.(inline)
  }
  return { ...result, usage: { wallMs: 0, cpuUserMs: 0, cpuSystemMs: 0, peakMemoryBytes: 0, how: 'counted' } }
}

/** A stage whose task has no time left ends with a timeout as soon as it has started. */
const wallWithin = (limits: Limits, leftMs: number): Limits =>
  strictest(limits, { wallMs: Math.max(1, Math.ceil(leftMs)) })

interface StageRun extends StagesRun {
  readonly hooks: StageHooks
  readonly limits: Limits
  readonly runtime: Pick<Runtime, 'run'>
}

async function runStage(stage: CommandStage, run: StageRun, signal: AbortSignal): Promise<RunEnd> {
  const { attempt, staged, hooks, limits, runtime } = run
  const { task } = attempt
  const { places } = task
  const { mounts } = staged
  const room = { ...run.room, ...(places && { places }), ...(mounts && { mounts }) }
  const { entrypointAt, stdin } = stage
  const { workingDirectory, platform, image } = task
  const command = { argv: stage.argv, env: stage.env, workingDirectory, platform, image, network: stage.network }
  const { stage: _, input, ...called } = hooks
  if (stdin === undefined) return await runtime.run({ command, room, limits, entrypointAt, hooks: called }, signal)
  const begun = Promise.withResolvers<void>()
  const started = (): void => {
    begun.resolve()
    hooks.started?.()
  }
  if (stdin.kind !== 'live') {
    const fed: RunHooks = { ...called, started, stdin: inputAfter(begun.promise, recordedInput(stdin, staged)) }
    return await runtime.run({ command, room, limits, entrypointAt, hooks: fed }, signal)
  }
  const { terminal } = stdin
  const live = input?.().attach({ hasTerminal: terminal !== undefined })
  const typed = live && { stdin: inputAfter(begun.promise, live.stdin), control: live.control }
  const held = strictest(limits, { outputFloodBytes: limits.outputBytes ?? LIVE_OUTPUT_BYTES })
  return await runtime.run({ command, room, limits: held, terminal, hooks: { ...called, started, ...typed } }, signal)
}

/** The output of an interactive stage is not truncated: a stage that prints more than this is killed. */
const LIVE_OUTPUT_BYTES = 16 * 1024 * 1024

function stageResult(name: string, end: RunEnd, streams: Pick<StageResult, 'stdout' | 'stderr'>): StageResult {
  const { cause, exitCode, signal, reason, usage } = end
  if (cause === 'cancelled') throw new FaultError({ kind: 'cancelled', what: 'the attempt was cancelled' })
  return { name, cause, exitCode, signal, reason, usage, ...streams }
}

/** How the standard output or error of a stage is carried in a result. */
interface StreamRules extends Pick<StageTools, 'digestOf'> {
  readonly fn: DigestFunction
  /** Up to this length the bytes are in the result itself. */
  readonly inlineBytes: number
  /**
   * For an action: inline bytes are also stored as a blob, because some clients of the Remote Execution API require it.
   */
  readonly isAction: boolean
}

/** A longer output of a stage becomes a blob. */
const INLINE_BYTES = 64 * 1024

const streamRules = ({ fn, action }: CommandTask, { inlineBytes, digestOf }: StageTools): StreamRules =>
  action === undefined
    ? { fn, digestOf, inlineBytes: INLINE_BYTES, isAction: false }
    : { fn, digestOf, inlineBytes, isAction: true }

function storedStream(output: Output, rules: StreamRules, blobs: OutputBlob[]): StageStream {
  const { fn, digestOf, inlineBytes, isAction } = rules
  const { droppedBytes } = output
  const bytes = isAction && droppedBytes > 0 ? withNotice(output) : output.bytes
  const inline = bytes.length <= inlineBytes ? bytes : undefined
  const isBlob = inline === undefined || (isAction && bytes.length > 0)
  const digest = isBlob ? digestOf(fn, bytes) : undefined
  if (digest !== undefined) blobs.push(outputInMemory(digest, bytes))
  return { inline, digest, droppedBytes, droppedAt: droppedBytes === 0 ? 0 : output.droppedAt }
}

/** An ActionResult has no field for dropped bytes: a notice in the output itself states where they are missing. */
function withNotice({ bytes, droppedBytes, droppedAt }: Output): Uint8Array {
  const notice = Buffer.from(`\n[windlass: ${droppedBytes} bytes left out]\n`)
  return Buffer.concat([bytes.subarray(0, droppedAt), notice, bytes.subarray(droppedAt)])
}
