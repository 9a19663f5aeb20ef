import { type Command, Option } from 'commander'

/** How to reach a server, who we are to it, and whom we trust: the same for every command that dials one. */
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

/** `otherwise` is what holds where neither the flag nor WINDLASS_SERVER names a server. */
export const addDialFlags = (command: Command, otherwise: string = DEFAULT_SERVER): Command =>
  command
    .option(
      '-s, --server <address>',
      `grpc://, grpcs://, http:// or https://host:port, or unix:/path (WINDLASS_SERVER, else ${otherwise})`,
    )
    .option('--ca <file>', "trust the certificates in this PEM file instead of the system's")
    .option('--cert <file>', 'show this certificate to the server')
    .option('--key <file>', 'the private key of the certificate')
    .option('--header <name=value>', 'send this with every call; may be repeated', gathered)

export const instanceFlag = (): Option =>
  new Option('--instance <name>', 'the instance to use').default('', 'the unnamed one')

/** A number is read where it is used; in help it looks like one. */
export const numberFlag = (flags: string, description: string, number: number): Option =>
  new Option(flags, description).default(String(number), String(number))
