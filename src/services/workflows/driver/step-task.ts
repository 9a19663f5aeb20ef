import { type FaultError, invalid } from '../../../base/fault.ts'
import type { PlatformProperty } from '../../../model/command.ts'
import { type CommandTask, commandTaskOf } from '../../../model/command-task.ts'
import { layOut } from '../../../stagers/lay-out.ts'
import { findRequirement, isRequired } from '../../../workflow/process/requirement.ts'
import type { CommandCall } from '../../../workflow/run/drive.ts'
import { type Docker, dockerOf } from '../../../workflow/tool/docker.ts'
import { redirected } from '../../../workflow/tool/redirected.ts'
import { requestedOutputs, type ToolOutputPaths } from '../../../workflow/tool/requested-outputs.ts'
import type { Staged } from '../../../workflow/tool/room.ts'
import { type ToolCommand, toolCommand } from '../../../workflow/tool/tool-command.ts'
import { laidStep, WORKING_DIRECTORY } from './step-room.ts'
import { PLACELESS, type StepSite } from './step-site.ts'

/** The longest delay of a timer; a longer limit counts as none. */
const MOST_WALL_MS = 2 ** 31 - 1
const MOST_FILES = 10_000
/** A larger limit is left out: workers have their own limits. */
const MOST_BYTES = 2 ** 50

export interface PreparedStep {
  readonly command: ToolCommand
  readonly task: CommandTask
  readonly requiresNetwork: boolean
}

/** Converts a tool with its inputs to a task that the site can run. */
export async function prepareStep(call: CommandCall, site: StepSite): Promise<PreparedStep> {
  const { tool, scope, evaluator } = call
  const docker = await containerFor(call, site)
  const image = docker?.image
  const room = site.room(docker)
  const command = await toolCommand({ tool, scope, inputs: call.inputs, room, evaluator })
  const staged = site.isShared && command.inplaceUpdate ? command.staged.map(original) : command.staged
  const { items, places } = laidStep(room, staged, image !== undefined)
  if (places.length > 0 && !(await site.showsPlaces())) throw unmet(PLACELESS)
  const inputs = await layOut(items, site)
  const argv = argvOf(command)
  const { paths, globs } = site.isShared ? NOTHING : await wantedOutputs(call, command)
  const streams = [command.stdout, command.stderr].filter((name) => name !== undefined).map(plainName)
  const wallMs = Math.ceil((command.timeLimitSeconds ?? Number.POSITIVE_INFINITY) * 1000)
  const task = commandTaskOf({
    stages: [
      {
        name: 'run',
        argv,
        // The shell that opens its files comes first, then the entrypoint of the image.
        ...(image !== undefined && { entrypointAt: argv.length - command.argv.length }),
        env: Object.entries(command.env).map(([name, value]) => ({ name, value })),
        network: command.network,
        limits: wallMs > MOST_WALL_MS ? {} : { wallMs },
      },
    ],
    inputs,
    workingDirectory: WORKING_DIRECTORY,
    outputs: {
      paths: [...new Set([...paths, ...streams])],
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
    isolation: image === undefined ? site.isolation : 'container',
    cacheable: command.reuse,
  })
  return { command, task, requiresNetwork: command.network && isRequired(scope, 'NetworkAccess') }
}

/** Returns the container of the step; undefined to run it on the site's own system. */
async function containerFor({ scope, path }: CommandCall, site: StepSite): Promise<Docker | undefined> {
  const docker = dockerOf(scope)
  if (docker === undefined) return undefined
  const got = await site.image(docker)
  if ('image' in got) return { ...docker, image: got.image }
  if (docker.required) throw unmet(got.trouble)
  site.goesWithout?.(path, got.trouble)
  return undefined
}

const unmet = (trouble: string): FaultError => invalid(`DockerRequirement cannot be met: ${trouble}`, 'unsupported')

/** Uses the input itself, which the command may change, instead of a copy. */
const original = (one: Staged): Staged => ({ ...one, writable: false })

const NOTHING = { paths: [], globs: [] }

async function wantedOutputs({ tool, evaluator }: CommandCall, command: ToolCommand): Promise<ToolOutputPaths> {
  const { paths, globs } = await requestedOutputs(tool, command, evaluator)
  return { paths: [...paths, ...changedInPlace(command)], globs }
}

/** A file that is changed in place is an output, even if the tool does not declare it. */
const changedInPlace = ({ inplaceUpdate, staged, room: { outdir } }: ToolCommand): readonly string[] =>
  staged
    .filter(({ writable, path }) => inplaceUpdate && writable && path.startsWith(`${outdir}/`))
    .map(({ path }) => path.slice(outdir.length + 1))

/** Without `.` and empty parts: a shell accepts `./x`, and a list of outputs does not. */
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
