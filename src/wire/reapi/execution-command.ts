import type { Command, PlatformProperty } from '../../model/command.ts'
import type { Action, ActionCommand } from './execution-action.ts'

/** An action with its command as the one form that commands of all origins are lowered to. */
export function commandOfAction(action: Action, command: ActionCommand): Command {
  // Clients before 2.2 say it in the command. A platform with nothing in it is one, too.
  const platform = action.platform ?? command.platform
  return {
    ...command,
    inputs: { root: action.inputRootDigest, files: [], uris: [] },
    platform,
    image: platform.find(({ name }) => name === 'container-image')?.value,
    limits: action.timeoutMs === undefined ? {} : { wallMs: action.timeoutMs },
    network: asksForNetwork(platform),
    cacheable: !action.doNotCache,
  }
}

/** How clients of other services ask for a network, and say that they need none. */
const NETWORK: ReadonlySet<string> = new Set(['network', 'dockerNetwork'])
const CONNECTED: ReadonlySet<string> = new Set(['on', 'standard', 'bridge', 'true'])
const ALONE: ReadonlySet<string> = new Set(['off', 'none', 'false'])

export const asksForNetwork = (platform: readonly PlatformProperty[]): boolean =>
  platform.some(({ name, value }) => NETWORK.has(name) && CONNECTED.has(value))

/** Any other value, `host` for one, is a property like any other: only a worker that offers it gets the action. */
export const isAboutNetwork = ({ name, value }: PlatformProperty): boolean =>
  NETWORK.has(name) && (CONNECTED.has(value) || ALONE.has(value))
