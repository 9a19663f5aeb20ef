/**
 * `npm run test:clients`: third-party programs against our server and worker (or with `--server grpc://host:port`
 * against a running one). Installs npm packages and, as root, a directory with Debian's unstable branch; Go programs
 * are taken from PATH. `--only NAME` tries only clients whose name contains NAME. Exits 1 when a client that was tried
 * fails.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { leaveNothing } from '../../src/testing/leave-nothing.ts'
import { BAZELS } from './bazels.ts'
import { BUILDBOX } from './buildbox.ts'
import { type Client, type ServerAddress, Skip } from './client.ts'
import { GO_TOOLS } from './go-tools.ts'

interface Outcome {
  readonly client: string
  readonly result: 'works' | 'fails' | 'skipped'
  readonly words: string
}

async function tryOut(client: Client, server: ServerAddress): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-client-'))
  const outcome = (result: Outcome['result'], words: string): Outcome => ({ client: client.name, result, words })
  try {
    return outcome('works', await client.check(server, folder))
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    return outcome(error instanceof Skip ? 'skipped' : 'fails', words)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Prints failures in full, and their first line in the table. */
function report(outcomes: readonly Outcome[]): void {
  for (const { client, words } of outcomes.filter(({ result }) => result === 'fails')) {
    console.error(`\n== ${client}\n${words}`)
  }
  const line = ({ client, result, words }: Outcome): string =>
    `| ${client} | ${result} | ${words.split('\n')[0]?.replaceAll('|', '/')} |`
  console.log(['', '| client | result | |', '|---|---|---|', ...outcomes.map(line)].join('\n'))
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { server: { type: 'string' }, only: { type: 'string', default: '' } } })
  const folder = mkdtempSync(join(tmpdir(), 'windlass-clients-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  // Stopped gracefully, never killed: its worker is a separate process and would be left behind.
  const ours = values.server === undefined ? await runWindlass(folder, 'up') : undefined
  const server = values.server?.replace(/^grpc:\/\//, '') ?? `127.0.0.1:${ours?.port}`
  const outcomes: Outcome[] = []
  for (const client of [...BAZELS, ...BUILDBOX, ...GO_TOOLS].filter(({ name }) => name.includes(values.only))) {
    console.error(`trying ${client.name}`)
    outcomes.push(await tryOut(client, server))
  }
  await ours?.server.stop()
  report(outcomes)
  return outcomes.some(({ result }) => result === 'fails') ? 1 : 0
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
leaveNothing()
process.exit(await main())
