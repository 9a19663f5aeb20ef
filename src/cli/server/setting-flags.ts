import type { Command } from 'commander'
import type { FlagSetting } from '../../app/config/load.ts'

/** The flags that override settings of the file. */
export const SETTING_FLAGS = [
  {
    flag: '--grpc',
    value: '<address>',
    key: 'server.address',
    help: 'serve gRPC here: host:port or unix:/path (127.0.0.1:8980)',
  },
  { flag: '--http', value: '<address>', key: 'server.http_address', help: 'serve HTTP here (127.0.0.1:8080)' },
  {
    flag: '--data',
    value: '<dir>',
    key: 'server.data_dir',
    help: 'keep everything in this directory (~/.local/share/windlass)',
  },
  {
    flag: '--start-without-journal',
    value: '',
    key: 'server.start_without_journal',
    help: 'start with a new journal if the old one is missing or empty',
  },
  { flag: '--insecure', value: '', key: 'server.insecure', help: 'allow addresses that other machines can reach' },
  {
    flag: '--allow-bare-snippets',
    value: '',
    key: 'snippets.allow_bare',
    help: 'run snippets without isolation where a worker has no sandbox',
  },
] as const

/** The flags of a command that reads settings: a file, and overrides. */
export function addSettingFlags(command: Command): Command {
  command.option('-c, --config <file>', 'read settings from a TOML file')
  for (const { flag, value, help } of SETTING_FLAGS) command.option(`${flag} ${value}`.trim(), help)
  return command.option('-v, --verbose', 'log more, and show where an error came from')
}

/** As commander names it: `allowBareSnippets`. */
const optionOf = (flag: string): string => flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** The settings that were given as flags. */
export function givenFlags(options: Readonly<Record<string, unknown>>): FlagSetting[] {
  const given: FlagSetting[] = SETTING_FLAGS.map(({ flag, key }) => ({ flag, key, value: options[optionOf(flag)] }))
  given.push({ flag: '--verbose', key: 'log.level', value: options.verbose === true ? 'debug' : undefined })
  return given.filter(({ value }) => value !== undefined)
}
