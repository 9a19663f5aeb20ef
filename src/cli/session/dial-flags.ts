import { type Command, Option } from 'commander'

/** Address, credentials and trust: the same flags for every command that connects to a server. */
export interface DialOptions {
  readonly server?: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly header?: readonly string[]
}

/** For flags that may be repeated. */
export const gathered = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value]

export const DEFAULT_SERVER = 'grpc://127.0.0.1:8980'

/** `otherwise` is the default when neither the flag nor WINDLASS_SERVER names a server. */
export const addDialFlags = (command: Command, otherwise: string = DEFAULT_SERVER): Command =>
  command
    .option(
      '-s, --server <address>',
      `grpc://, grpcs://, http:// or https://host:port, or unix:/path (WINDLASS_SERVER, else ${otherwise})`,
    )
    .option('--ca <file>', "trust the certificates in this PEM file instead of the system's")
    .option('--cert <file>', 'authenticate with this certificate')
    .option('--key <file>', 'the private key of the certificate')
    .option('--header <name=value>', 'send this with every call; may be repeated', gathered)

export const instanceFlag = (): Option =>
  new Option('--instance <name>', 'the instance to use').default('', 'the unnamed one')

/** A number is parsed where it is used; the help shows it as a number. */
export const numberFlag = (flags: string, description: string, number: number): Option =>
  new Option(flags, description).default(String(number), String(number))
