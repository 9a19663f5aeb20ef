import type { Digest, DigestFunction } from '../base/digest.ts'
import { FaultError } from '../base/fault.ts'
import { type CommandTask, toCommandResult } from '../model/command-task.ts'
import type { StepEnd } from '../services/workflows/driver/step-grid.ts'
import { stepOutputs } from '../services/workflows/driver/step-outputs.ts'
import { prepareStep } from '../services/workflows/driver/step-task.ts'
import { attemptPipeline } from '../worker/attempt/pipeline.ts'
import { NO_OUTPUTS, type OutputCollector } from '../worker/outputs/output-collector.ts'
import type { CommandCall } from '../workflow/run/drive.ts'
import type { ToolCommand } from '../workflow/tool/tool-command.ts'
import type { ValueRecord } from '../workflow/values/value.ts'
import { asFault } from './as-fault.ts'
import { fileAddress } from './files/file-address.ts'
import { localSite } from './local-site.ts'
import type { Machine } from './machine.ts'
import { containerRoom } from './rooms/container-room.ts'
import { localRoom } from './rooms/local-rooms.ts'
import { type LocalStore, localStore, sha256Of } from './rooms/local-store.ts'
import { linkingStage } from './rooms/stage-locally.ts'

/**
 * Runs the commands of a workflow on this machine: each step becomes a task as on a server, and each task an attempt as on
 * a worker, as many at a time as there are processors.
 */
export function commandRunner(machine: Machine): (call: CommandCall) => Promise<ValueRecord> {
  const { watch, files } = machine
  const store = localStore(files)
  let rooms = 0
  return async (call) => {
    watch.queued(call.path)
    let isDone = false
    try {
      const outputs = await runOne(call, { machine, store, name: `room-${++rooms}` })
      isDone = true
      return outputs
    } catch (cause) {
      throw asFault(cause)
    } finally {
      watch.ended(call.path, isDone)
    }
  }
}

interface Here {
  readonly machine: Machine
  readonly store: LocalStore
  /** The name of its room. */
  readonly name: string
}

async function runOne(call: CommandCall, here: Here): Promise<ValueRecord> {
  const { processors, files, folder, outputJsonBytes } = here.machine
  const { command, task } = await prepareStep(call, localSite(here))
  const leave = await processors.enter(command.resources.cores.min)
  try {
    const result = await attempt({ call, command, task }, here)
    const outdir = fileAddress(localRoom(folder, here.name).outdir)
    return await stepOutputs(call, { command, result }, { files, outputJsonBytes, stager: { put: async () => outdir } })
  } finally {
    leave()
  }
}

interface LocalStep {
  readonly call: CommandCall
  readonly command: ToolCommand
  readonly task: CommandTask
}

/** The link between the driver and the worker's pipeline is this call. */
async function attempt({ call, command, task }: LocalStep, { machine, store, name }: Here): Promise<StepEnd> {
  const { rooms, clock, watch } = machine
  const own =
    task.image === undefined
      ? { runtime: machine.runtime, inputs: linkingStage(store), outputs: LEFT_IN_ROOM }
      : inContainer(command, { machine, store })
  const fixed = { worker: '', limits: {}, inlineBytes: 0, target: KEEPS_NOTHING, digestOf: hashed }
  const pipeline = attemptPipeline({ ...fixed, rooms, clock, ...own })
  const printed = (bytes: Uint8Array): void => watch.printed(call.path, bytes)
  const hooks = { stage: () => watch.started(call.path), stdout: printed, stderr: printed }
  const ended = await pipeline.execute({ name, task, hooks }, AbortSignal.any([call.signal, machine.signal]))
  const { stages, outputs } = toCommandResult(ended)
  return { stage: stages.at(-1), outputs }
}

function inContainer(command: ToolCommand, { machine: { containers }, store }: Omit<Here, 'name'>) {
  if (containers === undefined) throw new FaultError({ kind: 'bug', what: 'a task with an image, and no containers' })
  return { runtime: containers.runtime(), ...containerRoom(store, changedPaths(command)) }
}

/** The paths of inputs that the command may change in place. */
const changedPaths = ({ inplaceUpdate, staged }: ToolCommand): ReadonlySet<string> =>
  new Set(inplaceUpdate ? staged.filter(({ writable }) => writable).map(({ path }) => path) : [])

/** Output files are read in the room, which is kept. */
const LEFT_IN_ROOM: OutputCollector = { collect: async () => ({ outputs: NO_OUTPUTS, blobs: [] }) }
/** Printed output was passed on while it arrived: its blob is not kept. */
const KEEPS_NOTHING = { store: async () => {} }
const hashed = (_: DigestFunction, bytes: Uint8Array): Digest => sha256Of(bytes)
