import { FaultError } from '../../base/fault.ts'
import type { CommandOutputFile, CommandStage, CommandTask } from '../../model/command-task.ts'
import type { IsolationLevel } from '../../model/isolation.ts'
import { languageIn } from '../../model/language.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'
import { commandResultFromProto, commandResultToProto } from '../../wire/tasks/command-task-result.ts'
import type { BlobTarget } from '../outputs/blob-target.ts'
import type { OutputCollector } from '../outputs/output-collector.ts'
import type { Attempt, Executor, FoundStage, RanStage } from './executor.ts'

export interface StageCacheOptions {
  /** Identifies the toolchain of a language on this machine; undefined where that is not possible. */
  readonly toolchainOf?: ((language: string) => string | undefined) | undefined
  readonly isolation?: IsolationLevel | undefined
  readonly runtime: Pick<Runtime, 'name'>
  readonly outputs: OutputCollector
  readonly target: BlobTarget
}

/** Uses the result of an earlier run of the same first stage, and stores the result for later runs. */
export const cachingStages = (inner: Executor, options: StageCacheOptions): Executor => ({
  async execute(attempt, signal) {
    const conditions = conditionsOf(attempt, options)
    if (conditions === undefined) return await inner.execute(attempt, signal)
    const here = { attempt, conditions, options }
    const keep = (ran: RanStage) => keepStage(here, ran, signal)
    const found = await findStage(here)
    return await inner.execute({ ...attempt, stageCache: { found, keep } }, signal)
  },
})

interface Here {
  readonly attempt: Attempt
  readonly conditions: string
  readonly options: StageCacheOptions
}

const MOST_FILES = 2000
const MOST_BYTES = 256 * 1024 ** 2

/** A failed cache, or a result that does not fit, counts as a cache miss: the stage can always run. */
async function findStage({ attempt: { task, results }, conditions }: Here): Promise<FoundStage | undefined> {
  try {
    const bytes = await results?.get(conditions)
    if (bytes === undefined) return undefined
    const { stages, outputs } = commandResultFromProto(bytes, task.fn)
    const [result] = stages
    const isWhole = stages.length === 1 && result?.cause === 'ok' && outputs.symlinks.length === 0
    if (!isWhole || !fitsBeside(outputs.files, task)) return undefined
    return { result: { ...result, cached: true }, files: outputs.files }
  } catch (error) {
    return ignoreFault(error)
  }
}

async function keepStage({ attempt, conditions, options }: Here, ran: RanStage, signal: AbortSignal): Promise<void> {
  const { task, results } = attempt
  const globs = task.stages[0]?.cache?.outputs ?? []
  const wanted = { paths: [], globs, mostFiles: MOST_FILES, mostBytes: MOST_BYTES, symlinks: 'refuse' as const }
  try {
    const order = { task: { ...task, outputs: wanted }, root: ran.root }
    const { outputs, blobs } = await options.outputs.collect(order, signal)
    if (outputs.problem !== undefined || outputs.outputFiles.length === 0) return
    await options.target.store([...blobs, ...ran.blobs], signal)
    const files = { root: outputs.outputsRoot, files: outputs.outputFiles, symlinks: [], problem: undefined }
    const kept = { stages: [ran.result], outputs: files, metadata: undefined }
    await results?.put(conditions, commandResultToProto(kept))
  } catch (error) {
    signal.throwIfAborted()
    ignoreFault(error)
  }
}

/** A task does not fail because of its cache. A `bug` is thrown again. */
function ignoreFault(error: unknown): undefined {
  if (!(error instanceof FaultError) || error.fault.kind === 'bug') throw error
  return undefined
}

/**
 * Everything outside the task that changes the outputs of the stage: the room that it runs in, and the toolchain of
 * this worker. The server adds the stage itself. Undefined for a stage that must not be cached.
 */
function conditionsOf({ task, results }: Attempt, options: StageCacheOptions): string | undefined {
  const { toolchainOf, isolation, runtime } = options
  const [stage] = task.stages
  if (results === undefined || !mayBeCached(stage) || task.image !== undefined) return undefined
  const language = languageIn(task)
  const toolchain = language === undefined ? undefined : toolchainOf?.(language)
  return toolchain === undefined ? undefined : JSON.stringify([language, toolchain, runtime.name, isolation])
}

const mayBeCached = (stage: CommandStage | undefined): stage is CommandStage =>
  stage?.cache !== undefined && !stage.network && stage.stdin?.kind !== 'live'

/** A file that the stage made by changing an input cannot be placed beside that input. */
function fitsBeside(files: readonly CommandOutputFile[], { inputs, workingDirectory }: CommandTask): boolean {
  if (inputs.root !== undefined || workingDirectory !== '') return false
  const taken = [...inputs.files, ...inputs.placed].map(({ path }) => path)
  return files.every(({ path }) =>
    taken.every((other) => path !== other && !path.startsWith(`${other}/`) && !other.startsWith(`${path}/`)),
  )
}
