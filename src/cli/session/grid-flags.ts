import { type Command, Option } from 'commander'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../../base/digest.ts'
import { addDialFlags, type DialOptions, instanceFlag, numberFlag } from './dial-flags.ts'

/** The connection flags of every `cas` command. */
export interface CasServerOptions extends DialOptions {
  readonly instance: string
  readonly json?: true
}

export interface DigestOptions extends CasServerOptions {
  readonly digestFunction: DigestFunction
}

/** For commands about the whole grid: those about one instance add a flag for it. */
export type GridOptions = Omit<CasServerOptions, 'instance'>

export const addServerFlags = (command: Command): Command =>
  withReach(command, (flags) => flags.addOption(instanceFlag()))

export const addGridFlags = (command: Command): Command => withReach(command, (flags) => flags)

const withReach = (command: Command, withInstance: (flags: Command) => Command): Command =>
  withInstance(addDialFlags(command))
    .option('--json', 'print JSON')
    .option('-v, --verbose', 'show where an error came from')

/** The flags of a command that downloads a tree. */
export interface LimitOptions {
  readonly maxEntries: string
  readonly maxBytes: string
}

/** A server can describe more files than the disk holds in a few kilobytes: they are counted before any is written. */
export const addLimitFlags = (command: Command): Command =>
  command
    .addOption(numberFlag('--max-entries <number>', 'write no more files, directories and symlinks', 1_000_000))
    .addOption(new Option('--max-bytes <size>', 'write no more than this').default('64GiB', '64GiB'))

export const addDigestFlag = (command: Command): Command =>
  command.addOption(
    new Option('--digest-function <name>', 'what hashes are made with')
      .choices(Object.keys(DIGEST_FUNCTIONS))
      .default('sha256', 'sha256'),
  )
