import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { tethered } from '../../bench/child.ts'
import { leaveNothing } from '../../src/testing/leave-nothing.ts'
import { obtainH2spec, USUAL_CACHE } from './obtain.ts'
import { startRealServer } from './real-server.ts'
import { isFlawless, readVerdict, type Verdict } from './verdict.ts'

/**
 * `npm run h2spec`: the conformance suite for HTTP/2 servers against the gRPC port of `windlass server`, in plaintext
 * and over TLS. Exits 0 when every test ran and passed, 1 when not, 2 when h2spec is not available. An argument names
 * another folder than the default for the h2spec binary.
 */

/** h2spec's timeout for one response; its default of 2 s is short on a busy machine. */
const PATIENCE_SECONDS = 20

async function judge(program: string, over: 'plain' | 'tls'): Promise<Verdict> {
  await using server = await startRealServer(over === 'tls')
  const tls = over === 'tls' ? ['-t', '-k'] : []
  const options = ['--strict', ...tls, '-o', String(PATIENCE_SECONDS), '-h', '127.0.0.1', '-p', server.port]
  const h2spec = tethered(spawn(program, options, { stdio: ['ignore', 'pipe', 'inherit'] }))
  return report(over, await text(h2spec.stdout as NonNullable<typeof h2spec.stdout>))
}

/** Prints the failures and h2spec's own summary. */
function report(over: string, output: string): Verdict {
  const failures = output.indexOf('Failures:')
  const summary = output.trimEnd().split('\n').slice(-2).join('\n')
  console.log(`\nh2spec --strict, ${over}\n${failures < 0 ? summary : output.slice(failures)}`)
  return readVerdict(over, output)
}

function printTable(verdicts: readonly Verdict[]): void {
  const columns = ['tests', 'passed', 'skipped', 'failed'] as const
  console.log(`\n${''.padEnd(8)}${columns.map((column) => column.padStart(8)).join('')}`)
  for (const verdict of verdicts) {
    const cells = columns.map((column) => String(verdict[column]).padStart(8)).join('')
    console.log(`${verdict.over.padEnd(8)}${cells}  ${isFlawless(verdict) ? 'ok' : 'NOT OK'}`)
  }
}

async function judgeBoth(program: string): Promise<boolean> {
  const verdicts = [await judge(program, 'plain'), await judge(program, 'tls')]
  printTable(verdicts)
  return verdicts.every(isFlawless)
}

leaveNothing()
const obtained = obtainH2spec(process.argv[2] ?? USUAL_CACHE)
if ('missing' in obtained) {
  console.error(`h2spec did not run, so nothing was judged.\n${obtained.missing}`)
  process.exitCode = 2
} else process.exitCode = (await judgeBoth(obtained.program)) ? 0 : 1
