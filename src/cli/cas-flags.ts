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

const gathered = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value]

export const addServerFlags = (command: Command): Command =>
  command
    .option('-s, --server <address>', 'grpc://host:port, grpcs://host:port or unix:/path', DEFAULT_SERVER)
    .option('--instance <name>', 'the instance name to use', '')
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
