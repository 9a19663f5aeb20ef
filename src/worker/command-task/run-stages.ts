import { createReadStream } from 'node:fs'
import { FaultError } from '../../base/fault.ts'
import type { Command, Limits } from '../../model/command.ts'
import type { CommandStage, CommandTask, StageInput, StageResult } from '../../model/command-task.ts'
import type { Room, RunEnd, RunHooks, Runtime } from '../../runtimes/run/runtime.ts'
import { type AttemptTools, strictest } from '../attempt.ts'
import type { StagedInputs } from '../inputs/stage-inputs.ts'
import type { OutputBlob } from '../outputs/blob-target.ts'
import type { LiveInput } from './live-input.ts'
import { type FoundStage, keepStage } from './stage-cache.ts'
import { stageStream } from './stage-stream.ts'

/** What is told of a task while it runs: `stage` before each, and `started` once. */
export interface StageHooks extends Omit<RunHooks, 'stdin' | 'reins'> {
  readonly stage?: (name: string) => void
  /** What somebody does to it while it runs; without it a stage that is to be typed to reads nothing. */
  readonly input?: LiveInput
}

export interface StagesOrder {
  readonly task: CommandTask
  readonly room: Room
  readonly staged: StagedInputs
  readonly hooks: StageHooks
  /** For all stages together, from the start of the first. */
  readonly timeoutMs: number | undefined
  /** Of the first stage: what it makes is in the room already. */
  readonly found?: FoundStage | undefined
}

export interface RanStages {
  readonly stages: readonly StageResult[]
  /** What they printed, where it is too long for a result. */
  readonly blobs: readonly OutputBlob[]
}

type StageTools = Pick<AttemptTools, 'runtime' | 'clock' | 'limits' | 'outputs' | 'target'> &
  Pick<AttemptTools, 'results' | 'toolchainOf' | 'isolation'>

/** Runs one stage after the other until one does not end well. Throws `cancelled` when the signal was aborted. */
export async function runStages(order: StagesOrder, tools: StageTools, signal: AbortSignal): Promise<RanStages> {
  const { task, hooks, timeoutMs } = order
  const startedAt = tools.clock.monotonic()
  const stages: StageResult[] = []
  const blobs: OutputBlob[] = []
  for (const stage of task.stages) {
    hooks.stage?.(stage.name)
    if (stages.length === 0 && order.found !== undefined) {
      stages.push(retold(order.found.result, hooks))
      continue
    }
    const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (tools.clock.monotonic() - startedAt)
    const limits = strictest(strictest(stage.limits, wallWithin(leftMs)), tools.limits)
    const told = stages.length === 0 ? hooks : { ...hooks, started: () => {} }
    const end = await runStage(stage, { ...order, hooks: told, limits, runtime: tools.runtime }, signal)
    const [stdout, stderr] = [stageStream(end.stdout, task.fn), stageStream(end.stderr, task.fn)]
    blobs.push(...stdout.blobs, ...stderr.blobs)
    const result = stageResult(stage.name, end, { stdout: stdout.stream, stderr: stderr.stream })
    stages.push(result)
    if (end.cause !== 'ok') break
    if (stage.cache !== undefined) await keepStage({ task, result, blobs, root: order.room.path }, tools, signal)
  }
  return { stages, blobs }
}

/** As if it had run, in no time. */
function retold(result: StageResult, hooks: StageHooks): StageResult {
  hooks.started?.()
  for (const stream of ['stdout', 'stderr'] as const) {
    const { inline } = result[stream]
    if (inline !== undefined && inline.length > 0) hooks[stream]?.(inline)
  }
  return { ...result, usage: { wallMs: 0, cpuUserMs: 0, cpuSystemMs: 0, peakMemoryBytes: 0, how: 'counted' } }
}

/** One whose task has no time left is ended as soon as it has begun, like one that took too long. */
const wallWithin = (leftMs: number | undefined): Limits =>
  leftMs === undefined ? {} : { wallMs: Math.max(1, Math.ceil(leftMs)) }

interface StageRun extends StagesOrder {
  readonly limits: Limits
  readonly runtime: Runtime
}

async function runStage(stage: CommandStage, run: StageRun, signal: AbortSignal): Promise<RunEnd> {
  const { task, staged, hooks, limits, runtime } = run
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

/** Of one who is typed to. Where other output is cut, this ends: nobody wants to sit in front of a program that fell silent. */
const LIVE_OUTPUT_BYTES = 16 * 1024 * 1024

/** A program that is not there yet cannot read: what is given to it too early would be lost on the way. */
async function* inputOnce(begun: Promise<void>, input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  await begun
  yield* input
}

/** A blob is read from the worker's cache, where it was checked and is held. */
function inputOf(input: Exclude<StageInput, { kind: 'live' }>, staged: StagedInputs): AsyncIterable<Uint8Array> {
  if (input.kind === 'inline') return once(input.bytes)
  const path = staged.pathOf(input.digest)
  return path === undefined ? once(new Uint8Array()) : piecesOf(path)
}

/** Opened by who reads it: a stage that cannot be started never does. */
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
