import { type FaultError, invalid } from '../../../base/fault.ts'
import type { PlatformProperty } from '../../../model/command.ts'
import { type CommandTask, commandTaskOf, isFreePlace } from '../../../model/command-task.ts'
import { type LayOutTools, layOut } from '../../../stagers/lay-out.ts'
import { findRequirement, isRequired } from '../../../workflow/process/requirement.ts'
import type { CommandCall } from '../../../workflow/run/drive.ts'
import { type Docker, dockerOf } from '../../../workflow/tool/docker.ts'
import { redirected } from '../../../workflow/tool/redirected.ts'
import { type ToolCommand, toolCommand } from '../../../workflow/tool/tool-command.ts'
import { wantedOutputs } from '../../../workflow/tool/wanted-outputs.ts'
import { laidStep, stepRoom, WORKING_DIRECTORY } from './step-room.ts'

/** The largest delay of a timer; a longer limit is no limit. */
const MOST_WALL_MS = 2 ** 31 - 1
const MOST_FILES = 10_000
/** Workers have limits of their own. */
const MOST_BYTES = 2 ** 50

export interface StepTaskTools extends LayOutTools {
  /** Whether any worker runs containers; and whether one can show a room in other places than ours. */
  readonly runsImages: (inPlaces: boolean) => Promise<boolean>
}

export interface PreparedStep {
  readonly command: ToolCommand
  readonly task: CommandTask
  readonly requiresNetwork: boolean
}

/** A tool with its inputs as a task that any worker can run. */
export async function prepareStep(call: CommandCall, tools: StepTaskTools): Promise<PreparedStep> {
  const { tool, scope, evaluator } = call
  const docker = await containerFor(call, tools)
  const image = docker?.image
  const room = stepRoom(docker?.outputDirectory)
  const command = await toolCommand({ tool, scope, inputs: call.inputs, room, evaluator })
  const { items, places } = laidStep(room, command.staged, image !== undefined)
  if (places.length > 0 && !(await tools.runsImages(true))) throw unmet(PLACELESS)
  const inputs = await layOut(items, tools)
  const argv = argvOf(command)
  const { paths, globs } = await wantedOutputs(tool, command, evaluator)
  const streams = [command.stdout, command.stderr].filter((name) => name !== undefined).map(plainName)
  const wallMs = Math.ceil((command.timeLimitSeconds ?? Number.POSITIVE_INFINITY) * 1000)
  const task = commandTaskOf({
    stages: [
      {
        name: 'run',
        argv,
        // A shell that opens files for it comes before all that the image has to say.
        ...(image !== undefined && { entrypointAt: argv.length - command.argv.length }),
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
    ...(places.length > 0 && { places }),
    isolation: image === undefined ? 'namespaces' : 'container',
    cacheable: command.reuse,
  })
  return { command, task, requiresNetwork: command.network && isRequired(scope, 'NetworkAccess') }
}

/** The container that it runs in; undefined to run it on the system of the worker. */
async function containerFor({ scope }: CommandCall, tools: StepTaskTools): Promise<Docker | undefined> {
  const docker = dockerOf(scope)
  const trouble = docker && (await troubleWith(docker, tools))
  if (trouble === undefined) return docker
  if (docker?.required) throw unmet(trouble)
  return undefined
}

async function troubleWith(
  { image, outputDirectory }: Docker,
  { runsImages }: StepTaskTools,
): Promise<string | undefined> {
  if (image === undefined || image.startsWith('/')) return NAMELESS
  if (!(await runsImages(false))) return 'no worker runs containers'
  if (outputDirectory === undefined) return undefined
  if (!isFreePlace(outputDirectory)) return `nothing can be shown at ${JSON.stringify(outputDirectory)}`
  return (await runsImages(true)) ? undefined : PLACELESS
}

const unmet = (trouble: string): FaultError => invalid(`DockerRequirement cannot be met: ${trouble}`, 'unsupported')

/** Workers of a grid must not build images or load them from arbitrary addresses. */
const NAMELESS =
  'workers take images by name only (dockerPull or dockerImageId): dockerFile, dockerLoad and dockerImport are for runs without a server'
const PLACELESS = 'no worker runs containers that show their room in other places'

/** A file that is changed in place is an output, whether or not the tool calls it one. */
const changedInPlace = ({ inplaceUpdate, staged, room: { outdir } }: ToolCommand): readonly string[] =>
  staged
    .filter(({ writable, path }) => inplaceUpdate && writable && path.startsWith(`${outdir}/`))
    .map(({ path }) => path.slice(outdir.length + 1))

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

/** Explicit requirements only; the defaults of CWL do not apply here. */
function demandsOf({ scope }: CommandCall, { resources }: ToolCommand): readonly PlatformProperty[] {
  const given = findRequirement(scope, 'ResourceRequirement')
  const asks = (name: string): boolean => given !== undefined && (`${name}Min` in given || `${name}Max` in given)
  return [
    ...(asks('cores') ? [{ name: 'cpu', value: amount(resources.cores.min) }] : []),
    ...(asks('ram') ? [{ name: 'memory', value: `${Math.ceil(resources.ramMiB.min * 1024 * 1024)}` }] : []),
  ]
}

const amount = (cores: number): string => `${Math.ceil(cores * 1000)}m`
