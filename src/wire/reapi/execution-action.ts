import { posix } from 'node:path'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type {
  Command,
  DirectoryFormat,
  EnvVariable,
  OutputProperty,
  PlatformProperty,
  WantedOutputs,
  WantedPaths,
} from '../../model/command.ts'
import { DIGEST_SHAPE, digestFromProto } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { durationFromProto } from '../google/duration.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** An Action as a client stored it. It stays the bytes that it is: this is only what we must know of it. */
export interface Action {
  readonly commandDigest: Digest
  readonly inputRootDigest: Digest
  /** Undefined when the client leaves it to us. */
  readonly timeoutMs: number | undefined
  readonly doNotCache: boolean
  /** Undefined for clients before 2.2, which say it in the command. */
  readonly platform: readonly PlatformProperty[] | undefined
}

/** A Command as a client stored it: what is in it of our own noun. */
export type ActionCommand = Pick<Command, 'argv' | 'env' | 'workingDirectory' | 'outputs' | 'platform'>

/** Node properties that can be asked for, as they are advertised. */
export const NODE_PROPERTIES: readonly string[] = ['mtime', 'unix_mode']

/** The protocol leaves the names open: these are what clients write, in any case. */
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

/** None at all would end every command before it began: it is taken for a client that has no wish. */
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

const outputsOf = (from: proto.Command, start: string): WantedOutputs => ({
  paths: pathsOf(from, start),
  globs: [],
  directoryFormat: formatOf(from.outputDirectoryFormat),
  properties: [...new Set(from.outputNodeProperties.map(outputPropertyOf))],
})

/** Clients of 2.1 and later say what they want in output_paths; what else they say is for older servers. */
function pathsOf({ outputPaths, outputFiles, outputDirectories }: proto.Command, start: string): WantedPaths {
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

/** A path may climb, but not out of the inputs. As it would be said without dots. */
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
