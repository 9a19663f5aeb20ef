import { type Command, Option } from 'commander'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../base/digest.ts'

/** How to reach the server: what every `cas` command takes. */
export interface ServerOptions {
  readonly server: string
  readonly instance: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly header?: readonly string[]
  readonly json?: true
}

export interface DigestOptions extends ServerOptions {
  readonly digestFunction: DigestFunction
}

const DEFAULT_SERVER = 'grpc://127.0.0.1:8980'

/** For flags that may be repeated. */
export const gathered = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value]

/** For commands about the grid as a whole: those that care for an instance add a flag for it. */
export type GridOptions = Omit<ServerOptions, 'instance'>

export const addServerFlags = (command: Command): Command =>
  withReach(command, (flags) => flags.option('--instance <name>', 'the instance name to use', ''))

export const addGridFlags = (command: Command): Command => withReach(command, (flags) => flags)

const withReach = (command: Command, withInstance: (flags: Command) => Command): Command =>
  withInstance(
    command.option('-s, --server <address>', 'grpc://host:port, grpcs://host:port or unix:/path', DEFAULT_SERVER),
  )
    .option('--ca <file>', 'trust the certificates in this PEM file instead of the system’s')
    .option('--cert <file>', 'show this certificate to the server')
    .option('--key <file>', 'the private key of the certificate')
    .option('--header <name=value>', 'send this with every call; may be repeated', gathered)
    .option('--json', 'print JSON')
    .option('-v, --verbose', 'show where an error came from')

export const addDigestFlag = (command: Command): Command =>
  command.addOption(
    new Option('--digest-function <name>', 'what hashes are made with')
      .choices(Object.keys(DIGEST_FUNCTIONS))
      .default('sha256'),
  )
