import { FaultError } from '../../base/fault.ts'
import type { CommandOutputFile, CommandStage, CommandTask, StageResult } from '../../model/command-task.ts'
import { LANGUAGE_PROPERTY } from '../../model/language.ts'
import { commandResultFromProto, commandResultToProto } from '../../wire/tasks/command-task-result.ts'
import type { AttemptTools } from '../attempt.ts'
import type { OutputBlob } from '../outputs/blob-target.ts'
import { collectCommandOutputs } from './collect-command-outputs.ts'

/** Results of the first stage of one attempt's task, kept by the server. The conditions are those of this worker. */
export interface StageResults {
  get(conditions: string): Promise<Uint8Array | undefined>
  put(conditions: string, result: Uint8Array): Promise<void>
}

/** What an earlier run of a task's first stage came to. */
export interface FoundStage {
  readonly result: StageResult
  /** What it made, to be laid out with the inputs. */
  readonly files: readonly CommandOutputFile[]
}

export interface StageKeeping {
  readonly task: CommandTask
  readonly result: StageResult
  /** What it printed, where that is too long for a result. */
  readonly blobs: readonly OutputBlob[]
  /** Of the room, as the stage has left it. */
  readonly root: string
}

type CacheTools = Pick<AttemptTools, 'results' | 'toolchainOf' | 'isolation' | 'runtime' | 'outputs' | 'target'>

const MOST_FILES = 2000
const MOST_BYTES = 256 * 1024 ** 2

/** A store that fails, or does not hold what it promised, has found nothing: the stage can always be run. */
export async function findStage(task: CommandTask, tools: CacheTools): Promise<FoundStage | undefined> {
  const conditions = conditionsOf(task, tools)
  if (conditions === undefined) return undefined
  try {
    const bytes = await tools.results?.get(conditions)
    if (bytes === undefined) return undefined
    const { stages, outputs } = commandResultFromProto(bytes, task.fn)
    const [result] = stages
    const isWhole = stages.length === 1 && result?.cause === 'ok' && outputs.symlinks.length === 0
    if (!isWhole || !fitsBeside(outputs.files, task)) return undefined
    return { result: { ...result, cached: true }, files: outputs.files }
  } catch (error) {
    return nothingBut(error)
  }
}

/** Only of a stage that ended well, and before anything else has run in its room. */
export async function keepStage(kept: StageKeeping, tools: CacheTools, signal: AbortSignal): Promise<void> {
  const { task, result, root } = kept
  const conditions = conditionsOf(task, tools)
  if (conditions === undefined || result.cause !== 'ok') return
  const globs = task.stages[0]?.cache?.outputs ?? []
  const wanted = { paths: [], globs, mostFiles: MOST_FILES, mostBytes: MOST_BYTES, symlinks: 'refuse' as const }
  try {
    const { outputs, blobs } = await collectCommandOutputs(
      { task: { ...task, outputs: wanted }, root },
      tools.outputs,
      signal,
    )
    if (outputs.problem !== undefined || outputs.files.length === 0) return
    await tools.target.store([...blobs, ...kept.blobs], signal)
    await tools.results?.put(conditions, commandResultToProto({ stages: [result], outputs, metadata: undefined }))
  } catch (error) {
    signal.throwIfAborted()
    nothingBut(error)
  }
}

/** Whatever is wrong with a cache is no reason for a task to fail; what is wrong with us is. */
function nothingBut(error: unknown): undefined {
  if (!(error instanceof FaultError) || error.fault.kind === 'bug') throw error
  return undefined
}

/**
 * Everything outside the task that changes what the stage makes: the room that it runs in, and the toolchain as this
 * worker has it. The server adds the stage itself. Undefined for a stage that must not be cached.
 */
function conditionsOf(task: CommandTask, { results, toolchainOf, isolation, runtime }: CacheTools): string | undefined {
  const [stage] = task.stages
  if (results === undefined || !mayBeCached(stage) || task.image !== undefined) return undefined
  const language = task.platform.find(({ name }) => name === LANGUAGE_PROPERTY)?.value.split('@')[0]
  const toolchain = language === undefined ? undefined : toolchainOf?.(language)
  return toolchain === undefined ? undefined : JSON.stringify([language, toolchain, runtime.name, isolation])
}

const mayBeCached = (stage: CommandStage | undefined): stage is CommandStage =>
  stage?.cache !== undefined && !stage.network && stage.stdin?.kind !== 'live'

/** What was made by changing an input cannot be laid out beside it. */
function fitsBeside(files: readonly CommandOutputFile[], { inputs, workingDirectory }: CommandTask): boolean {
  if (inputs.root !== undefined || workingDirectory !== '') return false
  const taken = [...inputs.files, ...inputs.placed].map(({ path }) => path)
  return files.every(({ path }) =>
    taken.every((other) => path !== other && !path.startsWith(`${other}/`) && !other.startsWith(`${path}/`)),
  )
}
