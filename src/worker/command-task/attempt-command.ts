import { FaultError } from '../../base/fault.ts'
import type { CommandOutputFile, CommandResult, CommandTask } from '../../model/command-task.ts'
import { type IsolationLevel, isolatesAs } from '../../model/isolation.ts'
import type { RuntimeName } from '../../runtimes/run/runtime.ts'
import type { AttemptTools } from '../attempt.ts'
import { passing } from '../daemon-gate.ts'
import type { StagedInputs, WantedInputs } from '../inputs/stage-inputs.ts'
import { storeAtLast } from '../outputs/persistent-store.ts'
import type { OpenRoom } from '../rooms.ts'
import { StageTimes } from '../stage-times.ts'
import { collectCommandOutputs } from './collect-command-outputs.ts'
import { runStages, type StageHooks } from './run-stages.ts'
import { type FoundStage, findStage } from './stage-cache.ts'

export interface CommandAttempt {
  /** Names the room: unlike that of any other attempt of this worker. */
  readonly name: string
  readonly task: CommandTask
  readonly queuedAt: number | undefined
  readonly hooks: StageHooks
  /** For all stages together. */
  readonly timeoutMs: number | undefined
  /** Of an attempt that was sent ahead of its slot: its first stage starts when this resolves. */
  readonly begun: Promise<void> | undefined
}

/**
 * One try at a command task, from an empty room to a result that is stored. On every way out the room is gone and the
 * inputs are let go of. Throws a fault when there is no result.
 */
export async function attemptCommand(
  order: CommandAttempt,
  tools: AttemptTools,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { task, hooks, timeoutMs, begun } = order
  signal.throwIfAborted()
  mustIsolate(task, tools)
  const times = new StageTimes(tools.clock, order.queuedAt)
  times.note('workerStart')
  await using room = tools.warm?.take(task) ?? (await roomToStartIn(order, tools))
  times.note('inputFetchStart')
  const found = await findStage(task, tools)
  const filled = await fill({ task, root: room.path, found }, tools, signal)
  using staged = filled.staged
  times.note('inputFetchCompleted')
  if (begun !== undefined) await passing(begun, signal)
  times.note('executionStart')
  const { stages, blobs } = await runStages(
    { task, room, staged, hooks, timeoutMs, found: filled.found },
    tools,
    signal,
  )
  times.note('executionCompleted')
  times.note('outputUploadStart')
  const collected = await collectCommandOutputs({ task, root: room.path }, tools.outputs, signal)
  await storeAtLast([...collected.blobs, ...blobs], tools, signal)
  times.note('outputUploadCompleted')
  times.note('workerCompleted')
  const virtualDurationMs = stages.reduce((sum, { usage }) => sum + usage.wallMs, 0)
  const metadata = { worker: tools.worker, times: times.all(), virtualDurationMs, auxiliary: [] }
  return { stages, outputs: collected.outputs, metadata }
}

async function roomToStartIn(
  { name, task }: CommandAttempt,
  { runtime, rooms, ready }: AttemptTools,
): Promise<OpenRoom> {
  const made = await ready?.take(task)
  if (made !== undefined) return made
  runtime.expect()
  return await rooms.open(name)
}

interface Filling {
  readonly task: CommandTask
  readonly root: string
  readonly found: FoundStage | undefined
}

/** What was found may have gone since: then the stage is run after all. */
async function fill(
  { task, root, found }: Filling,
  { inputs }: AttemptTools,
  signal: AbortSignal,
): Promise<{ readonly staged: StagedInputs; readonly found: FoundStage | undefined }> {
  try {
    return { staged: await inputs.stage(wantedInputs(task, found?.files), root, signal), found }
  } catch (error) {
    const isGone = error instanceof FaultError && error.fault.kind === 'missing'
    if (found === undefined || !isGone) throw error
    return { staged: await inputs.stage(wantedInputs(task), root, signal), found: undefined }
  }
}

const wantedInputs = (task: CommandTask, made: readonly CommandOutputFile[] = []): WantedInputs => {
  const { root, files, placed } = task.inputs
  return {
    inputs: { root, files, uris: [] },
    placed: [...placed, ...made.map((file) => ({ ...file, writable: true }))],
    apart: task.stages.flatMap(({ stdin }) => (stdin?.kind === 'blob' ? [stdin.digest] : [])),
    outputs: {
      paths: { kind: 'any', paths: task.outputs.paths },
      globs: [],
      directoryFormat: 'directories',
      properties: [],
    },
    workingDirectory: task.workingDirectory,
    makesWorkingDirectory: true,
  }
}

/** What the rooms of a runtime are, where nobody asked it. */
const ISOLATION_OF: Readonly<Record<RuntimeName, IsolationLevel>> = {
  bare: 'none',
  unshare: 'namespaces',
  sandbox: 'sandbox',
  docker: 'container',
  apptainer: 'container',
}

/** The scheduler sees to it by a property; a task that came here all the same must not run in a weaker room. */
function mustIsolate({ isolation, places = [] }: CommandTask, { runtime, isolation: given }: AttemptTools): void {
  const here = given ?? ISOLATION_OF[runtime.name]
  if (!isolatesAs(here, isolation))
    throw new FaultError({
      kind: 'unavailable',
      what: `a task asks for a room with isolation ${isolation}, and here it is ${here}`,
    })
  if (places.length > 0 && runtime.name !== 'docker')
    throw new FaultError({ kind: 'unavailable', what: `a room of ${runtime.name} is shown in one place only` })
}
