import { posix } from 'node:path'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type {
  Command,
  DirectoryFormat,
  EnvVariable,
  OutputProperty,
  PlatformProperty,
  RequestedOutputs,
  RequestedPaths,
} from '../../model/command.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { IMAGE_PROPERTY } from '../../model/properties/image-need.ts'
import { DIGEST_SHAPE, digestFromProto } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { durationFromProto } from '../google/time.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** The fields of a client's Action that the server and the worker use. */
export interface Action {
  readonly commandDigest: Digest
  readonly inputRootDigest: Digest
  /** Undefined when the client sets no timeout. */
  readonly timeoutMs: number | undefined
  readonly doNotCache: boolean
  /** Undefined for clients before REAPI 2.2, which set it in the command. */
  readonly platform: readonly PlatformProperty[] | undefined
}

/** The fields of our own Command that a client's Command has. */
export type ActionCommand = Pick<Command, 'argv' | 'env' | 'workingDirectory' | 'outputs' | 'platform'>

/** The node properties that workers can report, as advertised in the capabilities. */
export const NODE_PROPERTIES: readonly string[] = ['mtime', 'unix_mode']

/** REAPI does not define the names: these are the ones that clients use, in upper or lower case. */
const OUTPUT_PROPERTIES: ReadonlyMap<string, OutputProperty> = new Map([
  ['mtime', 'mtime'],
  ['unix_mode', 'unixMode'],
  ['unixmode', 'unixMode'],
])

export function actionFromProto(bytes: Uint8Array, fn: DigestFunction): Action {
  const from = decodeWellFormed(proto.Action, bytes, { name: 'Action', shape: ACTION_SHAPE })
  return {
    commandDigest: digestFromProto(from.commandDigest, fn, 'the command of an action'),
    inputRootDigest: digestFromProto(from.inputRootDigest, fn, 'the input root of an action'),
    timeoutMs: timeoutOf(from.timeout),
    doNotCache: from.doNotCache,
    platform: from.platform?.properties.map(propertyOf),
  }
}

export function commandFromProto(bytes: Uint8Array): ActionCommand {
  const from = decodeWellFormed(proto.Command, bytes, { name: 'Command', shape: COMMAND_SHAPE })
  const argv = from.arguments.map((argument) => plain(argument, 'an argument'))
  if (argv[0] === undefined || argv[0] === '') throw invalid('the command names no program')
  const workingDirectory = within(from.workingDirectory, { what: 'working directory', start: '' })
  return {
    argv,
    env: from.environmentVariables.map(variableOf),
    workingDirectory,
    outputs: outputsOf(from, workingDirectory),
    platform: from.platform?.properties.map(propertyOf) ?? [],
  }
}

const PLATFORM_SHAPE: Shape = { 1: { 1: 'text', 2: 'text' } }
const ACTION_SHAPE: Shape = {
  1: DIGEST_SHAPE,
  2: DIGEST_SHAPE,
  6: { 1: 'number', 2: 'number' },
  7: 'number',
  9: 'bytes',
  10: PLATFORM_SHAPE,
}
const COMMAND_SHAPE: Shape = {
  1: 'text',
  2: { 1: 'text', 2: 'text' },
  3: 'text',
  4: 'text',
  5: PLATFORM_SHAPE,
  6: 'text',
  7: 'text',
  8: 'text',
  9: 'number',
}

/** A timeout of 0 counts as none: it would end every command before it starts. */
function timeoutOf(timeout: proto.Action['timeout']): number | undefined {
  const ms = durationFromProto(timeout)
  if (ms < 0) throw invalid('the timeout of an action is negative')
  return ms === 0 ? undefined : ms
}

const propertyOf = ({ name, value }: proto.Platform_Property): PlatformProperty => {
  if (name === '') throw invalid('a platform property has no name')
  return { name, value }
}

function variableOf({ name, value }: proto.Command_EnvironmentVariable): EnvVariable {
  if (name === '' || name.includes('=')) throw invalid(`${quoted(name)} cannot be the name of an environment variable`)
  return { name: plain(name, 'an environment variable'), value: plain(value, 'an environment variable') }
}

const outputsOf = (from: proto.Command, start: string): RequestedOutputs => ({
  paths: pathsOf(from, start),
  globs: [],
  directoryFormat: formatOf(from.outputDirectoryFormat),
  properties: [...new Set(from.outputNodeProperties.map(outputPropertyOf))],
})

/** Clients of REAPI 2.1 and later set output_paths; they set the other two fields for older servers only. */
function pathsOf({ outputPaths, outputFiles, outputDirectories }: proto.Command, start: string): RequestedPaths {
  const checked = (paths: readonly string[]) => {
    for (const path of paths) within(path, { what: 'output', start })
    return paths
  }
  if (outputPaths.length > 0) return { kind: 'any', paths: checked(outputPaths) }
  return { kind: 'typed', files: checked(outputFiles), directories: checked(outputDirectories) }
}

const FORMATS: Readonly<Record<number, DirectoryFormat>> = { 0: 'tree', 1: 'directories', 2: 'both' }

function formatOf(number: number): DirectoryFormat {
  const format = FORMATS[number]
  if (format === undefined) throw invalid(`output_directory_format ${number} is not known`)
  return format
}

function outputPropertyOf(name: string): OutputProperty {
  const property = OUTPUT_PROPERTIES.get(name.toLowerCase())
  if (property === undefined) throw invalid(`the node property ${quoted(name)} is not supported`)
  return property
}

/** Returns the path without dots. It may contain `..`, but must not lead out of the input root. */
function within(path: string, { what, start }: { what: string; start: string }): string {
  if (path.startsWith('/')) throw invalid(`the ${what} ${quoted(path)} is absolute`)
  const whole = posix.normalize(posix.join(start, plain(path, `the ${what}`))).replace(/\/$/, '')
  if (whole === '..' || whole.startsWith('../')) throw invalid(`the ${what} ${quoted(path)} leads out of the inputs`)
  return whole === '.' ? '' : whole
}

function plain(text: string, what: string): string {
  if (text.includes('\0')) throw invalid(`${what} has a NUL in it`)
  return text
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))

export interface ActionMessages {
  readonly digest: Digest
  readonly action: Action
  readonly command: ActionCommand
  /** Both messages as the client encoded them. */
  readonly messages: { readonly action: Uint8Array; readonly command: Uint8Array }
}

/** The task of an action, from the client's messages. */
export function taskFromMessages(digest: Digest, messages: ActionMessages['messages']): CommandTask {
  const action = actionFromProto(messages.action, digest.fn)
  return taskOfAction({ digest, action, command: commandFromProto(messages.command), messages })
}

/** An action as a task of one stage. It keeps the client's digest and messages. */
export function taskOfAction({ digest, action, command, messages }: ActionMessages): CommandTask {
  const { argv, env, workingDirectory, outputs } = command
  // Clients before REAPI 2.2 set the platform in the command. An empty platform in the action counts as set.
  const platform = action.platform ?? command.platform
  const limits = action.timeoutMs === undefined ? {} : { wallMs: action.timeoutMs }
  const { paths } = outputs
  return {
    fn: digest.fn,
    stages: [{ name: 'run', argv, env, stdin: undefined, limits, network: requestsNetwork(platform) }],
    inputs: { root: action.inputRootDigest, files: [], placed: [] },
    workingDirectory,
    outputs: { ...NO_CAPS, paths: paths.kind === 'any' ? paths.paths : [] },
    platform,
    image: platform.find(({ name }) => name === IMAGE_PROPERTY)?.value,
    isolation: 'none',
    cacheable: !action.doNotCache,
    action: {
      digest,
      commandDigest: action.commandDigest,
      messages,
      outputFiles: paths.kind === 'typed' ? paths.files : [],
      outputDirectories: paths.kind === 'typed' ? paths.directories : [],
      directoryFormat: outputs.directoryFormat,
      properties: outputs.properties,
    },
  }
}

/** Only the worker limits the outputs of an action; symlinks are kept as symlinks. */
const NO_CAPS = {
  globs: [],
  mostFiles: Number.MAX_SAFE_INTEGER,
  mostBytes: Number.MAX_SAFE_INTEGER,
  symlinks: 'keep',
} as const

/** The properties by which clients of other services request a network or none. */
const NETWORK: ReadonlySet<string> = new Set(['network', 'dockerNetwork'])
const NETWORK_ON: ReadonlySet<string> = new Set(['on', 'standard', 'bridge', 'true'])
const NETWORK_OFF: ReadonlySet<string> = new Set(['off', 'none', 'false'])

const requestsNetwork = (platform: readonly PlatformProperty[]): boolean =>
  platform.some(({ name, value }) => NETWORK.has(name) && NETWORK_ON.has(value))

/** Any other value, such as `host`, is an ordinary property: only a worker that offers it gets the action. */
export const isAboutNetwork = ({ name, value }: PlatformProperty): boolean =>
  NETWORK.has(name) && (NETWORK_ON.has(value) || NETWORK_OFF.has(value))
