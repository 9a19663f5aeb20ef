import { createReadStream } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import { type Command, type Limits, strictest } from '../../model/command.ts'
import type { CommandStage, CommandTask, StageInput, StageResult } from '../../model/command-task.ts'
import type { Room, RunEnd, Runtime } from '../../runtimes/run/runtime.ts'
import type { StagedInputs } from '../inputs/stage-inputs.ts'
import type { OutputBlob } from '../outputs/blob-target.ts'
import { outputStream, type StreamRules } from '../outputs/output-stream.ts'
import type { Attempt, StageHooks } from './executor.ts'

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
}

/** Runs one stage after the other until one does not exit with 0. Throws `cancelled` when the signal was aborted. */
export async function runStages(order: StagesRun, tools: StageTools, signal: AbortSignal): Promise<RanStages> {
  const { task, hooks, timeoutMs, stageCache } = order.attempt
  const startedAt = tools.clock.monotonic()
  const rules = streamRules(task, tools)
  const stages: StageResult[] = []
  const blobs: OutputBlob[] = []
  for (const stage of task.stages) {
    hooks.stage?.(stage.name)
    if (stages.length === 0 && stageCache?.found !== undefined) {
      stages.push(replayed(stageCache.found.result, hooks))
      continue
    }
    const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (tools.clock.monotonic() - startedAt)
    const limits = strictest(strictest(stage.limits, wallWithin(leftMs)), tools.limits)
    const heard = stages.length === 0 ? hooks : { ...hooks, started: () => {} }
    const end = await runStage(stage, { ...order, hooks: heard, limits, runtime: tools.runtime }, signal)
    const [stdout, stderr] = [outputStream(end.stdout, rules), outputStream(end.stderr, rules)]
    blobs.push(...stdout.blobs, ...stderr.blobs)
    const result = stageResult(stage.name, end, { stdout: stdout.stream, stderr: stderr.stream })
    stages.push(result)
    if (end.cause !== 'ok') break
    if (stage.cache !== undefined) await stageCache?.keep({ result, blobs, root: order.room.path }, signal)
  }
  return { stages, blobs }
}

/** Output of a stage that is longer becomes a blob. */
const INLINE_BYTES = 64 * 1024

const streamRules = ({ fn, action }: CommandTask, { inlineBytes }: StageTools): StreamRules =>
  action === undefined
    ? { fn, inlineBytes: INLINE_BYTES, alwaysBlob: false, marksCut: false }
    : { fn, inlineBytes, alwaysBlob: true, marksCut: true }

/** Reports an earlier result as if the stage had run in no time. */
function replayed(result: StageResult, hooks: StageHooks): StageResult {
  hooks.started?.()
  for (const stream of ['stdout', 'stderr'] as const) {
    const { inline } = result[stream]
    if (inline !== undefined && inline.length > 0) hooks[stream]?.(inline)
  }
  return { ...result, usage: { wallMs: 0, cpuUserMs: 0, cpuSystemMs: 0, peakMemoryBytes: 0, how: 'counted' } }
}

/** A stage whose task has no time left ends with a timeout as soon as it has started. */
const wallWithin = (leftMs: number | undefined): Limits =>
  leftMs === undefined ? {} : { wallMs: Math.max(1, Math.ceil(leftMs)) }

interface StageRun extends StagesRun {
  readonly hooks: StageHooks
  readonly limits: Limits
  readonly runtime: Runtime
}

async function runStage(stage: CommandStage, run: StageRun, signal: AbortSignal): Promise<RunEnd> {
  const { attempt, staged, hooks, limits, runtime } = run
  const { task } = attempt
  const room = task.places === undefined ? run.room : { ...run.room, places: task.places }
  const { entrypointAt } = stage
  const command: Command = {
    argv: stage.argv,
    env: stage.env,
    workingDirectory: task.workingDirectory,
    inputs: { root: undefined, files: [], uris: [] }, // they are in the room already
    outputs: { paths: { kind: 'any', paths: [] }, globs: [], directoryFormat: 'directories', properties: [] },
    platform: task.platform,
    image: task.image,
    limits,
    network: stage.network,
    cacheable: task.cacheable,
  }
  const { stage: _, input, ...rest } = hooks
  const begun = Promise.withResolvers<void>()
  const started = (): void => {
    begun.resolve()
    hooks.started?.()
  }
  const { stdin: wanted } = stage
  if (wanted?.kind === 'live') {
    const { terminal } = wanted
    const live = input?.attach({ hasTerminal: terminal !== undefined })
    const typed = live && { stdin: inputOnce(begun.promise, live.stdin), reins: live.reins }
    const held = strictest(limits, { outputFloodBytes: limits.outputBytes ?? LIVE_OUTPUT_BYTES })
    return await runtime.run({ command, room, limits: held, terminal, hooks: { ...rest, started, ...typed } }, signal)
  }
  const stdin = wanted && inputOnce(begun.promise, inputOf(wanted, staged))
  const all = { ...rest, started, ...(stdin && { stdin }) }
  return await runtime.run({ command, room, limits, entrypointAt, hooks: all }, signal)
}

/** The output of an interactive stage is not cut: a stage that prints more than this is ended. */
const LIVE_OUTPUT_BYTES = 16 * 1024 * 1024

/** Input that is written before the program has started would be lost. */
async function* inputOnce(begun: Promise<void>, input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  await begun
  yield* input
}

/** A blob is read from the worker's cache, which verified it and holds it. */
function inputOf(input: Exclude<StageInput, { kind: 'live' }>, staged: StagedInputs): AsyncIterable<Uint8Array> {
  if (input.kind === 'inline') return once(input.bytes)
  const path = staged.pathOf(input.digest)
  return path === undefined ? once(new Uint8Array()) : piecesOf(path)
}

/** The file is opened by the first read: a stage that cannot be started never reads. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path)
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

function stageResult(name: string, end: RunEnd, streams: Pick<StageResult, 'stdout' | 'stderr'>): StageResult {
  const { cause, exitCode, signal, reason, usage } = end
  if (cause === 'cancelled') throw new FaultError({ kind: 'cancelled', what: 'the attempt was cancelled' })
  return { name, cause, exitCode, signal, reason, usage, ...streams }
}
