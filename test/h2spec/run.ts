import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createAuthority } from '../../src/testing/certificates.ts'
import { obtainH2spec, USUAL_CACHE } from './obtain.ts'
import { isFlawless, readVerdict, type Verdict } from './verdict.ts'

/**
 * `npm run h2spec`: the conformance suite for HTTP/2 servers against our HTTP/2 layer, in the clear and over TLS.
 * Exits 0 when every test ran and passed, 1 when not, 2 when there was no h2spec to ask. An argument names another
 * folder than the usual one to keep h2spec in.
 */

/** h2spec's own patience with one answer; its default of 2 s is short on a busy machine. */
const PATIENCE_SECONDS = 20
const FIXTURE = fileURLToPath(import.meta.resolve('./fixture.ts'))

async function judge(program: string, over: string, certificate: readonly string[]): Promise<Verdict> {
  const fixture = spawn(process.execPath, [FIXTURE, '0', ...certificate], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const { value: port } = await createInterface(fixture.stdout)[Symbol.asyncIterator]().next()
    if (port === undefined) throw new Error('the fixture ended before it listened')
    const tls = certificate.length > 0 ? ['-t', '-k'] : []
    const options = ['--strict', ...tls, '-o', String(PATIENCE_SECONDS), '-h', '127.0.0.1', '-p', port]
    const h2spec = spawn(program, options, { stdio: ['ignore', 'pipe', 'inherit'] })
    return report(over, await text(h2spec.stdout))
  } finally {
    fixture.kill()
  }
}

/** Prints h2spec's own summary, and before it whatever failed. */
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
  const folder = mkdtempSync(join(tmpdir(), 'windlass-h2spec-'))
  try {
    const { cert, key } = createAuthority().server()
    const files = [join(folder, 'cert.pem'), join(folder, 'key.pem')] as const
    writeFileSync(files[0], cert)
    writeFileSync(files[1], key)
    const verdicts = [await judge(program, 'plain', []), await judge(program, 'tls', files)]
    printTable(verdicts)
    return verdicts.every(isFlawless)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const obtained = obtainH2spec(process.argv[2] ?? USUAL_CACHE)
if ('missing' in obtained) {
  console.error(`h2spec did not run, so nothing was judged.\n${obtained.missing}`)
  process.exitCode = 2
} else process.exitCode = (await judgeBoth(obtained.program)) ? 0 : 1
