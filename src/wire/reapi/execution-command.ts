import type { Digest } from '../../base/digest.ts'
import type { PlatformProperty } from '../../model/command.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { IMAGE_PROPERTY } from '../../model/properties/image-need.ts'
import type { Action, ActionCommand } from './execution-action.ts'

export interface ActionMessages {
  readonly digest: Digest
  readonly action: Action
  readonly command: ActionCommand
  /** The client's own bytes of both. */
  readonly messages: { readonly action: Uint8Array; readonly command: Uint8Array }
}

/** An action as a task of one stage. The client's digest and messages stay as they came. */
export function taskOfAction({ digest, action, command, messages }: ActionMessages): CommandTask {
  const { argv, env, workingDirectory, outputs } = command
  // Clients before REAPI 2.2 set the platform in the command. An empty platform in the action counts as set.
  const platform = action.platform ?? command.platform
  const limits = action.timeoutMs === undefined ? {} : { wallMs: action.timeoutMs }
  const { paths } = outputs
  return {
    fn: digest.fn,
    stages: [{ name: 'run', argv, env, stdin: undefined, limits, network: asksForNetwork(platform) }],
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

/** Only the worker limits the outputs of an action, and symlinks among them stay symlinks. */
const NO_CAPS = {
  globs: [],
  mostFiles: Number.MAX_SAFE_INTEGER,
  mostBytes: Number.MAX_SAFE_INTEGER,
  symlinks: 'keep',
} as const

/** How clients of other services ask for a network, and say that they need none. */
const NETWORK: ReadonlySet<string> = new Set(['network', 'dockerNetwork'])
const CONNECTED: ReadonlySet<string> = new Set(['on', 'standard', 'bridge', 'true'])
const ALONE: ReadonlySet<string> = new Set(['off', 'none', 'false'])

const asksForNetwork = (platform: readonly PlatformProperty[]): boolean =>
  platform.some(({ name, value }) => NETWORK.has(name) && CONNECTED.has(value))

/** Any other value, `host` for one, is a property like any other: only a worker that offers it gets the action. */
export const isAboutNetwork = ({ name, value }: PlatformProperty): boolean =>
  NETWORK.has(name) && (CONNECTED.has(value) || ALONE.has(value))
