import type { Message } from './inventory.ts'

/** One message, why it appears, and what an operator does about it. */
export interface MessageRow {
  /** As in the source; values are written `…`. */
  readonly text: string
  readonly cause: string
  readonly action: string
}

const AREAS: readonly (readonly [string, RegExp])[] = [
  ['Starting and reloading', /^src\/(app|cli|client)\//],
  ['Tasks, the journal and the cache', /^src\/(engine|storage|scheduler)\//],
  ['Requests, callbacks and workflows', /^src\/(doors|services)\//],
  ['Workers', /^src\/(worker|runtimes|languages)\//],
]

const HEAD = `# Troubleshooting: log lines and errors

Messages have stable texts, so that alerts and searches can rely on them; the values of a log line are fields of it. This page
lists every log line of the levels \`warn\` and \`error\`, and the errors that end a server or worker at its start. Errors of the HTTP interface
are on [a page of their own](api-codes.md). \`npm run messages\` writes this page from the tables in \`src/testing/messages/\`; a test
fails when a message has no row.
`

const FOOT = `
## Where to look next

\`windlass task ID --why\` prints why a task waits or how it ended, \`windlass workers\` what is wrong with a worker, and \`/readyz\` why a server
is not ready. \`--verbose\` (\`log.level = "debug"\`) adds connections and single steps.
`

/** The page, from the tables and from the places where the source has the messages. */
export const troubleshootingPage = (
  logs: readonly MessageRow[],
  errors: readonly MessageRow[],
  found: readonly Message[],
) =>
  [
    HEAD,
    ...AREAS.map(([area, paths]) =>
      logSection(
        area,
        logs,
        found.filter(({ path }) => paths.test(path)),
      ),
    ),
    errorSection(errors),
    FOOT,
  ]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')

function logSection(area: string, rows: readonly MessageRow[], found: readonly Message[]): string {
  const lines = rows.flatMap(({ text, cause, action }) => {
    const message = found.find((one) => one.text === text && one.kind !== 'fault')
    return message === undefined ? [] : [`| ${cell(text)} | ${message.kind} | ${cause} | ${action} |`]
  })
  return lines.length === 0
    ? ''
    : `## ${area}\n\n| log line | level | cause | what to do |\n|---|---|---|---|\n${lines.join('\n')}\n`
}

const errorSection = (rows: readonly MessageRow[]): string =>
  `## Errors at the start and when connecting\n\n| error | cause | what to do |\n|---|---|---|\n${rows
    .map(({ text, cause, action }) => `| ${cell(text)} | ${cause} | ${action} |`)
    .join('\n')}\n`

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
