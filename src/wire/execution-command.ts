import type { Command } from '../model/command.ts'
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
    network: platform.some(({ name, value }) => NETWORK.has(name) && CONNECTED.has(value)),
    cacheable: !action.doNotCache,
  }
}

/** How clients of other services ask for a network. */
const NETWORK: ReadonlySet<string> = new Set(['network', 'dockerNetwork'])
const CONNECTED: ReadonlySet<string> = new Set(['on', 'standard', 'bridge', 'true'])
