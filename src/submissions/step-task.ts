import { type FaultError, invalid } from '../base/fault.ts'
import type { PlatformProperty } from '../model/command.ts'
import { type CommandTask, commandTaskOf } from '../model/command-task.ts'
import { type LayOutTools, layOut, type RoomItem } from '../stagers/lay-out.ts'
import { findRequirement } from '../workflow/process/requirement.ts'
import type { Call } from '../workflow/run/drive.ts'
import { dockerOf } from '../workflow/tool/docker.ts'
import { redirected } from '../workflow/tool/redirected.ts'
import type { Room, Staged } from '../workflow/tool/room.ts'
import { type ToolCommand, toolCommand } from '../workflow/tool/tool-command.ts'
import { wantedOutputs } from '../workflow/tool/wanted-outputs.ts'

/** As every room with namespaces looks from within, on whichever worker. */
const INSIDE = '/room'
const WORKING_DIRECTORY = 'out'
const ROOM: Room = { outdir: `${INSIDE}/${WORKING_DIRECTORY}`, tmpdir: '/tmp', inputsDir: `${INSIDE}/in` }

/** Timers know no more milliseconds than these; who may take longer may take for ever. */
const MOST_WALL_MS = 2 ** 31 - 1
const MOST_FILES = 10_000
/** Workers have limits of their own. */
const MOST_BYTES = 2 ** 50

export interface StepTools extends LayOutTools {
  /** Whether any worker runs containers. */
  readonly runsImages: () => Promise<boolean>
}

export interface PreparedStep {
  readonly command: ToolCommand
  readonly task: CommandTask
}

/** A tool with its inputs as a task that any worker can run. */
export async function prepareStep(call: Call, tools: StepTools): Promise<PreparedStep> {
  const { tool, scope, evaluator } = call
  const image = await imageFor(call, tools)
  const command = toolCommand({ tool, scope, inputs: call.inputs, room: ROOM, evaluator })
  const inputs = await layOut(command.staged.map(inRoom), tools)
  const { paths, globs } = wantedOutputs(tool, command, evaluator)
  const streams = [command.stdout, command.stderr].filter((name) => name !== undefined).map(plainName)
  const wallMs = Math.ceil((command.timeLimitSeconds ?? Number.POSITIVE_INFINITY) * 1000)
  const task = commandTaskOf({
    stages: [
      {
        name: 'run',
        argv: argvOf(command),
        env: Object.entries(command.env).map(([name, value]) => ({ name, value })),
        network: command.network,
        limits: wallMs > MOST_WALL_MS ? {} : { wallMs },
      },
    ],
    inputs,
    workingDirectory: WORKING_DIRECTORY,
    outputs: {
      paths: [...new Set([...paths, ...streams, ...changedInPlace(command)])],
      globs,
      mostFiles: MOST_FILES,
      mostBytes: MOST_BYTES,
      symlinks: 'follow',
    },
    platform: [
      ...demandsOf(call, command),
      ...(image === undefined ? [] : [{ name: 'container-image', value: image }]),
    ],
    image,
    isolation: image === undefined ? 'namespaces' : 'container',
    cacheable: command.reuse,
  })
  return { command, task }
}

/** The image that it runs in; undefined to run it on the system of the worker. */
async function imageFor({ scope }: Call, { runsImages }: StepTools): Promise<string | undefined> {
  const docker = dockerOf(scope)
  if (docker === undefined) return undefined
  const trouble = !(await runsImages())
    ? 'no worker runs containers'
    : docker.image === undefined || docker.image.startsWith('/')
      ? 'only images that have a name can be fetched by workers'
      : docker.outputDirectory !== undefined
        ? 'workers have one working directory for all images'
        : undefined
  if (trouble === undefined) return docker.image
  if (docker.required) throw invalid(`DockerRequirement cannot be met: ${trouble}`, 'unsupported')
  return undefined
}

/** What is changed in place is an output, whether or not the tool calls it one. */
const changedInPlace = ({ inplaceUpdate, staged }: ToolCommand): readonly string[] =>
  staged
    .filter(({ writable, path }) => inplaceUpdate && writable && path.startsWith(`${ROOM.outdir}/`))
    .map(({ path }) => path.slice(ROOM.outdir.length + 1))

function inRoom(staged: Staged): RoomItem {
  if (!staged.path.startsWith(`${INSIDE}/`))
    throw invalid(`${staged.path} is not in the room of the command`, 'unsupported')
  return { ...staged, path: staged.path.slice(INSIDE.length + 1) }
}

/** By its simplest name: `./x` is a file like any other to a shell, and none to a list of outputs. */
const plainName = (name: string): string =>
  name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

function argvOf({ argv, stdin, stdout, stderr }: ToolCommand): readonly string[] {
  if (argv[0] === undefined || argv[0] === '') throw noCommand()
  return redirected(argv, { stdin, stdout, stderr })
}

const noCommand = (): FaultError => invalid('the tool gives no command to run')

/** What was asked for in so many words; the defaults of CWL are for those who have nothing to say. */
function demandsOf({ scope }: Call, { resources }: ToolCommand): readonly PlatformProperty[] {
  const given = findRequirement(scope, 'ResourceRequirement')
  const asks = (name: string): boolean => given !== undefined && (`${name}Min` in given || `${name}Max` in given)
  return [
    ...(asks('cores') ? [{ name: 'cpu', value: amount(resources.cores.min) }] : []),
    ...(asks('ram') ? [{ name: 'memory', value: `${Math.ceil(resources.ramMiB.min * 1024 * 1024)}` }] : []),
  ]
}

const amount = (cores: number): string => `${Math.ceil(cores * 1000)}m`
