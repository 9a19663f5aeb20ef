import { type Command, Option } from 'commander'

/** Who we are to a server, and whom we trust. */
export interface DialOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly header?: readonly string[]
}

/** For flags that may be repeated. */
export const gathered = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value]

export const addDialFlags = (command: Command): Command =>
  command
    .option('--ca <file>', "trust the certificates in this PEM file instead of the system's")
    .option('--cert <file>', 'show this certificate to the server')
    .option('--key <file>', 'the private key of the certificate')
    .option('--header <name=value>', 'send this with every call; may be repeated', gathered)

export const instanceFlag = (): Option =>
  new Option('--instance <name>', 'the instance to use').default('', 'the unnamed one')

/** A number is read where it is used; in help it looks like one. */
export const numberFlag = (flags: string, description: string, number: number): Option =>
  new Option(flags, description).default(String(number), String(number))
