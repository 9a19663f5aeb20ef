import { stringify } from 'smol-toml'
import { type Config, FIELDS } from './config.ts'
import type { ConfigField } from './field.ts'
import type { LoadedConfig } from './load.ts'
import { isTable, pickFields } from './table.ts'

/** Prints every setting with its description and default, as a TOML file. */
export function explainConfig(): string {
  const head = [
    '# Settings of Windlass, each with its default. Keep the lines that you change, delete the others, and start with:',
    '#   windlass server --config FILE',
    '# An environment variable overrides the file. Its name is WINDLASS_ and the key in capitals, such as',
    '# WINDLASS_SERVER_ADDRESS for address under [server]. Lists are written a,b and tables NAME=VALUE,NAME=VALUE.',
    '# A command-line flag overrides both.',
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

/** The text of docs/guide/configuration.md. */
export const configurationPage = (): string => `# Configuration

Windlass runs without any configuration. Settings are read from a TOML file (\`windlass server --config FILE\`),
environment variables and flags. Flags override variables, variables override the file, and the file overrides the
defaults. An unknown key is an error; the message suggests the nearest known key.

\`windlass config --explain\` prints the reference below. \`windlass config --config FILE\` prints the effective settings
and the source of each. \`--json\` prints either as JSON.

## Changing settings of a running server

\`windlass reload\` (or SIGHUP) makes a server, or \`windlass up\` with its worker, read its settings file, certificates
and keys again. Open connections continue; new connections use the new certificates. Settings marked "Reloads." below
take effect immediately. All other settings need a restart: \`windlass reload\` and the log list those that have changed.
Turning TLS or client certificates on or off also needs a restart. If the new settings or files are invalid, the server
keeps the old ones. On SIGHUP, a worker reads \`log.level\` and the files under \`[worker.tls]\` again.

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
