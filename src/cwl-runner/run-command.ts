import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { FaultError, invalid } from '../base/fault.ts'
import type { RunEnd } from '../runtimes/run/runtime.ts'
import type { CommandCall } from '../workflow/run/drive.ts'
import { collectToolOutputs } from '../workflow/tool/collect.ts'
import { dockerOf } from '../workflow/tool/docker.ts'
import { type Redirections, redirected } from '../workflow/tool/redirected.ts'
import { exitClass, type ToolCommand, toolCommand } from '../workflow/tool/tool-command.ts'
import type { ValueRecord } from '../workflow/values/value.ts'
import { asFault } from './as-fault.ts'
import { containerPaths, openContainerRoom } from './container/container-room.ts'
import { machineCommand } from './container/machine-command.ts'
import { fileAddress } from './files/file-address.ts'
import type { RoomFolders } from './files/room-folders.ts'
import { mustBeWithin, stage } from './files/stage.ts'
import type { Machine } from './machine.ts'

/** The maximum of timers in milliseconds; a longer limit counts as none. */
const MOST_WALL_MS = 2 ** 31 - 1

/** Runs the commands of a workflow on this machine: each in its own room, as many at a time as there are processors. */
export function commandRunner(machine: Machine): (call: CommandCall) => Promise<ValueRecord> {
  let rooms = 0
  return async (call) => {
    machine.watch.queued(call.path)
    let isDone = false
    const name = `room-${++rooms}`
    try {
      const outputs = await runOne(call, machine, foldersOf(machine.rooms, name))
      isDone = true
      return outputs
    } catch (cause) {
      throw asFault(cause)
    } finally {
      machine.watch.ended(call.path, isDone)
    }
  }
}

const foldersOf = (rooms: string, name: string): RoomFolders => {
  const base = `${rooms}/${name}`
  return { name, base, outdir: `${base}/out`, tmpdir: `${base}/tmp`, inputsDir: `${base}/in` }
}

async function runOne(call: CommandCall, machine: Machine, folders: RoomFolders): Promise<ValueRecord> {
  const { tool, scope, evaluator } = call
  const image = await imageFor(call, machine)
  for (const folder of [folders.outdir, folders.tmpdir, folders.inputsDir]) mkdirSync(folder, { recursive: true })
  const attempt = image === undefined ? bareAttempt : containerAttempt(image)
  const room = image === undefined ? folders : containerPaths(dockerOf(scope)?.outputDirectory)
  const { outdir, tmpdir, inputsDir } = room
  const command = await toolCommand({
    tool,
    scope,
    inputs: call.inputs,
    room: { outdir, tmpdir, inputsDir },
    evaluator,
  })
  const giveBack = await machine.slots.take(command.resources.cores.min)
  try {
    const end = await attempt({ call, command, machine, folders })
    mustHaveSucceeded(call, end)
    await rm(folders.tmpdir, { recursive: true, force: true })
    const outdirLocation = fileAddress(folders.outdir)
    const { exitCode } = end
    const { files, outputJsonBytes } = machine
    const collection = { tool, scope, command, exitCode, evaluator, files, outdirLocation, outputJsonBytes }
    return await collectToolOutputs(collection)
  } finally {
    giveBack()
  }
}

/** The image that the command runs in; undefined to run it without a container. */
async function imageFor(
  { scope, path }: CommandCall,
  { containers, watch, signal }: Machine,
): Promise<string | undefined> {
  const docker = dockerOf(scope)
  if (docker === undefined) return undefined
  const got =
    containers === undefined ? { trouble: 'containers are switched off' } : await containers.image(docker, signal)
  if ('image' in got) return got.image
  if (docker.required) throw invalid(`DockerRequirement cannot be met: ${got.trouble}`, 'unsupported')
  watch.noted(path, `runs without its container, which is only a hint: ${got.trouble}`)
  return undefined
}

interface Attempt {
  readonly call: CommandCall
  readonly command: ToolCommand
  readonly machine: Machine
  readonly folders: RoomFolders
}

async function bareAttempt({ call, command, machine, folders }: Attempt): Promise<RunEnd> {
  const { files } = machine
  await stage(command.staged, { files, folder: folders.base, inplaceUpdate: command.inplaceUpdate })
  const stdin = command.stdin === undefined ? undefined : resolve(folders.outdir, command.stdin)
  const argv = redirected(command.argv, { stdin, ...outputStreams(command, folders) })
  return launch({ call, command, machine, folders }, { argv, env: command.env })
}

const containerAttempt =
  (image: string) =>
  async (attempt: Attempt): Promise<RunEnd> => {
    const { command, machine, folders } = attempt
    const { containers } = machine
    if (containers === undefined) throw new FaultError({ kind: 'bug', what: 'an image, and nobody to run it' })
    const room = await openContainerRoom(command, folders, machine.files)
    const stdin = command.stdin === undefined ? undefined : room.onMachine(command.stdin)
    const name = `windlass-${folders.base.replaceAll(/[^\w]+/g, '-').replace(/^-/, '')}`
    const plain = await containers.argv({ image, name, command, mounts: room.mounts, hasInput: stdin !== undefined })
    const argv = redirected(plain, { stdin, ...outputStreams(command, folders) })
    const end = await launch(attempt, { argv, env: containers.env })
    // Ending docker or podman does not end the container.
    if (end.cause === 'timeout' || end.cause === 'cancelled') await containers.remove(name)
    room.settle()
    return end
  }

function outputStreams({ stdout, stderr }: ToolCommand, { outdir }: RoomFolders): Redirections {
  const open = (name: string | undefined): string | undefined => {
    if (name === undefined) return undefined
    const path = `${outdir}/${name}`
    mustBeWithin(path, outdir)
    mkdirSync(dirname(path), { recursive: true })
    return path
  }
  return { stdout: open(stdout), stderr: open(stderr) }
}

interface Words {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

async function launch({ call, command, machine, folders }: Attempt, { argv, env }: Words): Promise<RunEnd> {
  const { watch, runtime } = machine
  const signal = AbortSignal.any([call.signal, machine.signal])
  const wallMs = (command.timeLimitSeconds ?? Number.POSITIVE_INFINITY) * 1000
  const printed = (bytes: Uint8Array): void => watch.printed(call.path, bytes)
  watch.started(call.path)
  const room = { name: folders.name, path: folders.outdir, tmp: undefined }
  const limits = wallMs > MOST_WALL_MS ? {} : { wallMs }
  return runtime.run(
    { command: machineCommand(argv, env), room, limits, hooks: { stdout: printed, stderr: printed } },
    signal,
  )
}

function mustHaveSucceeded({ tool }: CommandCall, { cause, exitCode, reason }: RunEnd): void {
  if (cause === 'cancelled') throw new FaultError({ kind: 'cancelled', what: 'it was cancelled' })
  const isExit = cause === 'ok' || cause === 'exit' || cause === 'signal'
  if (!isExit) throw invalid(reason ?? cause)
  const meaning = exitClass(tool, exitCode)
  if (meaning === 'success') return
  const kind = meaning === 'temporaryFailure' ? ', which the tool calls a passing failure' : ''
  throw invalid(`the command ended with exit code ${exitCode}${kind}${reason === undefined ? '' : `: ${reason}`}`)
}
