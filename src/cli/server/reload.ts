import { Command } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import type { ReloadReport } from '../../app/server/reload.ts'

const EXAMPLES = `
The server reads its own settings file, certificates and keys again; connections stay open. Settings that need a restart
are named. It is found by its data directory, and only its own user and root may ask it. SIGHUP does the same.

Examples:
  windlass reload                        the server that keeps its data in the default directory
  windlass reload --data /var/lib/grid   another one
  windlass reload --config grid.toml     the one whose data directory the file names`

interface Options {
  readonly config?: string
  readonly data?: string
  readonly json?: true
}

export const reloadCommand = (terminal: Terminal): Command =>
  new Command('reload')
    .description('make a running server read its settings, certificates and keys again')
    .option('-c, --config <file>', 'read the data directory from this TOML file')
    .option('--data <dir>', 'the data directory of the server (~/.local/share/windlass)')
    .option('--json', 'print JSON')
    .option('-v, --verbose', 'show where an error came from')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => reload(options, terminal))

async function reload({ config: file, data, json }: Options, { env, home, out }: Terminal): Promise<void> {
  const { loadConfig } = await import('../../app/config/load.ts')
  const { askToReload } = await import('../../app/server/control.ts')
  const flags = data === undefined ? [] : [{ flag: '--data', key: 'server.data_dir', value: data }]
  const { config } = loadConfig({ file, env, home, flags })
  const report = await askToReload(config.server.data_dir)
  out(json === true ? `${JSON.stringify(report)}\n` : words(report))
}

const words = ({ applied, needRestart, files }: ReloadReport): string =>
  [
    applied.length === 0 ? 'No setting has changed.' : `In force now: ${applied.join(', ')}.`,
    ...(files.length === 0 ? [] : [`Read again: ${files.join(', ')}.`]),
    ...(needRestart.length === 0 ? [] : [`Changed, but needs a restart: ${needRestart.join(', ')}.`]),
    '',
  ].join('\n')
