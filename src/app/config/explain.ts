import { stringify } from 'smol-toml'
import { type Config, FIELDS } from './config.ts'
import type { ConfigField } from './field.ts'
import type { LoadedConfig } from './load.ts'
import { isTable, pickFields } from './table.ts'

/** Prints every setting with its description and default, as a TOML file. */
export function explainConfig(): string {
  const head = [
    '# Settings of Windlass, each with its default. Keep what you change, drop the rest, and start with:',
    '#   windlass server --config FILE',
    '# A variable sets any of them, and goes over the file: WINDLASS_ and the key in capitals, such as',
    '# WINDLASS_SERVER_ADDRESS for address under [server]; lists are written a,b and tables NAME=VALUE,NAME=VALUE.',
    '# A command-line flag goes over both.',
    '',
  ]
  return [...head, ...byTable(explainField, true)].join('\n')
}

/** Prints the effective settings and marks those that are not defaults. */
export function showConfig({ config, origins }: LoadedConfig): string {
  return byTable((field) => showField(field, config, origins)).join('\n')
}

/** The same as `explainConfig`, as JSON. */
export const explainedFields = (): object[] =>
  FIELDS.map(({ key, standard, otherwise, meaning, choices, variable, flag, reloads }) => ({
    key,
    default: standard ?? null,
    otherwise,
    meaning,
    choices,
    variable,
    flag,
    reloads: reloads ?? false,
  }))

/** docs/guide/configuration.md */
export const configurationPage = (): string => `# Configuration

Windlass runs without any. What can be set is set in a TOML file (\`windlass server --config FILE\`), by environment
variables, or by flags; flags go over variables, variables over the file, the file over the defaults. Unknown keys are
refused, and the message names the key that was probably meant.

\`windlass config --explain\` prints the reference below, \`windlass config --config FILE\` shows the settings that hold and
where each came from, and \`--json\` gives either to a program.

## Changing settings of a running server

\`windlass reload\` (or SIGHUP) makes a server, or \`windlass up\` with its worker, read its settings file, certificates
and keys again. Connections stay open: new ones meet the new certificates. Settings marked "Reloads." below take effect;
every other setting needs a restart, and the answer of \`windlass reload\` and the log name those that have changed. Turning
TLS or client certificates on or off needs a restart, too. Nothing changes when the new settings or files are invalid.
A worker reads its settings file again on SIGHUP for \`log.level\` and the files under \`[worker.tls]\`.

## Reference

\`\`\`toml
${explainConfig().trimEnd()}
\`\`\`
`

const headingOf = ({ form, key, table }: ConfigField): string => (form === 'map' ? key : table)

/** Groups the fields by table, because TOML allows a table to begin only once. */
const TOGETHER: readonly ConfigField[] = [...Map.groupBy(FIELDS, headingOf).values()].flat()

function byTable(linesOf: (field: ConfigField) => string[], spaced = false): string[] {
  const lines: string[] = []
  let current: string | undefined
  for (const field of TOGETHER) {
    const heading = headingOf(field)
    if (current !== undefined && (spaced || heading !== current)) lines.push('')
    if (heading !== current) lines.push(`[${heading}]`)
    current = heading
    lines.push(...linesOf(field))
  }
  return [...lines, '']
}

function explainField(field: ConfigField): string[] {
  const { meaning, choices, flag, reloads, otherwise, standard, name, form } = field
  const remarks: string[] = []
  if (choices !== undefined && choices.length > 1) remarks.push(`One of ${choices.join(', ')}.`)
  if (otherwise !== undefined) remarks.push(`Default: ${otherwise}.`)
  if (flag !== undefined) remarks.push(`Flag: ${flag}.`)
  if (reloads === true) remarks.push('Reloads.')
  const comments = [meaning, ...(remarks.length > 0 ? [remarks.join(' ')] : [])].map((line) => `# ${line}`)
  if (form === 'map') return comments
  return [...comments, standard === undefined ? `# ${name} =` : assignment(name, standard)]
}

function showField(field: ConfigField, config: Config, origins: ReadonlyMap<string, string>): string[] {
  const value = pickFields(config, field.key)
  const entries = field.form === 'map' && isTable(value) ? Object.entries(value) : [[field.name, value] as const]
  return entries.map(([name, part]) => {
    const origin = origins.get(field.form === 'map' ? `${field.key}.${name}` : field.key)
    const remark = origin === undefined ? '' : `  # from ${origin}`
    return part === undefined ? `# ${name} is not set: ${field.otherwise}` : assignment(name, part) + remark
  })
}

const assignment = (name: string, value: unknown): string => stringify({ [name]: value }).trimEnd()
