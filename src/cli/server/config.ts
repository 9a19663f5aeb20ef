import { Command } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import { addSettingFlags, givenFlags } from './setting-flags.ts'

const EXAMPLES = `
Examples:
  windlass config --explain > windlass.toml     a file to start from, with every setting and its meaning
  windlass config --config windlass.toml        the settings that hold, and where they came from`

interface Options extends Readonly<Record<string, unknown>> {
  readonly config?: string
  readonly explain?: true
  readonly json?: true
}

export const configCommand = (terminal: Terminal): Command =>
  addSettingFlags(new Command('config'))
    .description('show the settings, or explain them')
    .option('--explain', 'print every setting with its default and description, as a TOML file')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) =>
      terminal.out(await (options.explain ? explain(options) : show(options, terminal))),
    )

async function explain({ json }: Options): Promise<string> {
  const { explainConfig, explainedFields } = await import('../../app/config/explain.ts')
  return json ? `${JSON.stringify(explainedFields(), null, 2)}\n` : explainConfig()
}

async function show(options: Options, { env, home, err }: Terminal): Promise<string> {
  const { loadConfig } = await import('../../app/config/load.ts')
  const { showConfig } = await import('../../app/config/explain.ts')
  const loaded = loadConfig({ file: options.config, env, home, flags: givenFlags(options) })
  const { config, origins, notes } = loaded
  if (options.json) return `${JSON.stringify({ config, origins: Object.fromEntries(origins), notes }, null, 2)}\n`
  for (const { what, keys } of notes) err(`note: ${what}: ${keys.join(', ')}\n`)
  return showConfig(loaded)
}
