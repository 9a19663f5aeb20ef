import type { Digest, DigestFunction } from '../base/digest.ts'
import { invalid } from '../base/fault.ts'
import type { Command, DirectoryFormat, OutputProperty, PlatformProperty, WantedOutputs } from '../model/command.ts'
import { DIGEST_SHAPE, digestFromProto } from './digest.ts'
import { durationFromProto } from './duration.ts'
import * as proto from './gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { decodeWellFormed, type Shape } from './well-formed.ts'

/** What an Action says, as far as a worker needs it. */
export interface ActionOrder {
  readonly commandDigest: Digest
  readonly inputRoot: Digest
  readonly timeoutMs: number | undefined
  readonly cacheable: boolean
  /** Undefined when the action leaves it to its command. */
  readonly platform: readonly PlatformProperty[] | undefined
}

const PLATFORM_SHAPE: Shape = { 1: { 1: 'text', 2: 'text' } }

const ACTION = {
  name: 'Action',
  shape: {
    1: DIGEST_SHAPE,
    2: DIGEST_SHAPE,
    6: { 1: 'number', 2: 'number' },
    7: 'number',
    9: 'bytes',
    10: PLATFORM_SHAPE,
  },
} as const

export function actionOrderFromProto(bytes: Uint8Array, fn: DigestFunction): ActionOrder {
  const action = decodeWellFormed(proto.Action, bytes, ACTION)
  const timeoutMs = durationFromProto(action.timeout)
  if (timeoutMs < 0) throw invalid('the action has a negative timeout')
  return {
    commandDigest: digestFromProto(action.commandDigest, fn, 'the command of the action'),
    inputRoot: digestFromProto(action.inputRootDigest, fn, 'the input root of the action'),
    timeoutMs: timeoutMs === 0 ? undefined : timeoutMs,
    cacheable: !action.doNotCache,
    platform: action.platform && propertiesOf(action.platform),
  }
}

const COMMAND = {
  name: 'Command',
  shape: {
    1: 'text',
    2: { 1: 'text', 2: 'text' },
    3: 'text',
    4: 'text',
    5: PLATFORM_SHAPE,
    6: 'text',
    7: 'text',
    8: 'text',
    9: 'number',
  },
} as const

/** The one form that commands of all origins are lowered to. */
export function commandFromProto(bytes: Uint8Array, action: ActionOrder): Command {
  const command = decodeWellFormed(proto.Command, bytes, COMMAND)
  const platform = action.platform ?? (command.platform && propertiesOf(command.platform)) ?? []
  return {
    argv: command.arguments,
    env: command.environmentVariables.map(({ name, value }) => ({ name, value })),
    workingDirectory: command.workingDirectory,
    inputs: { root: action.inputRoot, files: [], uris: [] },
    outputs: wantedOf(command),
    platform,
    image: platform.find(({ name }) => name === 'container-image')?.value,
    limits: action.timeoutMs === undefined ? {} : { wallMs: action.timeoutMs },
    network: platform.some(({ name, value }) => NETWORK.has(name) && CONNECTED.has(value)),
    cacheable: action.cacheable,
  }
}

/** How clients of other services ask for a network. */
const NETWORK: ReadonlySet<string> = new Set(['network', 'dockerNetwork'])
const CONNECTED: ReadonlySet<string> = new Set(['on', 'standard', 'bridge', 'true'])

const propertiesOf = ({ properties }: proto.Platform): PlatformProperty[] =>
  properties.map(({ name, value }) => ({ name, value }))

/** Where a client says both, the newer field counts, and clients before 2.1 say only the older ones. */
function wantedOf(command: proto.Command): WantedOutputs {
  const isTyped = command.outputPaths.length === 0 && command.outputFiles.length + command.outputDirectories.length > 0
  return {
    paths: isTyped
      ? { kind: 'typed', files: command.outputFiles, directories: command.outputDirectories }
      : { kind: 'any', paths: command.outputPaths },
    globs: [],
    directoryFormat: FORMATS[command.outputDirectoryFormat as number] ?? 'tree',
    properties: [...new Set(command.outputNodeProperties.flatMap((name) => PROPERTIES.get(name.toLowerCase()) ?? []))],
  }
}

const FORMATS: readonly DirectoryFormat[] = ['tree', 'directories', 'both']

/** The protocol names none; these are what clients write. Others are left out, as it asks of properties that are unknown. */
const PROPERTIES: ReadonlyMap<string, OutputProperty> = new Map([
  ['mtime', 'mtime'],
  ['unixmode', 'unixMode'],
  ['unix_mode', 'unixMode'],
])
