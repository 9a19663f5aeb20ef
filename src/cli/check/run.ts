import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { type Result, tally } from '../../check/behaviour.ts'
import { checkReapi, Unreachable } from '../../check/reapi/check-reapi.ts'
import { BEHAVIOURS, type ReapiBehaviour } from '../../check/reapi/table/behaviours.ts'
import { jsonReport } from '../../check/report-json.ts'
import { junitReport } from '../../check/report-junit.ts'
import { textReport } from '../../check/report-text.ts'
import { select } from '../../check/select.ts'
import type { Target } from '../../client/connection/target.ts'
import { dial, pairOf, targetOf } from '../session/dial.ts'
import { ExitRequest } from '../session/verdict.ts'
import type { CheckOptions } from './check.ts'

const NEXT = 'is a server running there? "windlass server" starts one, and --target names another'

const wrong = (what: string, cause?: unknown): FaultError => new FaultError({ kind: 'invalid', what }, cause)

export async function runCheck(options: CheckOptions, terminal: Terminal): Promise<void> {
  const behaviours = select(BEHAVIOURS, options)
  if (behaviours.length === 0) throw wrong(`--only: no behaviour has such an id; --list prints all of them`)
  if (options.list) return terminal.out(options.json ? `${JSON.stringify(behaviours, null, 2)}\n` : listed(behaviours))
  // A run leaves blobs behind: the server must be named explicitly.
  const named = options.target ?? options.server ?? terminal.env.WINDLASS_SERVER
  if (named === undefined || named === '')
    throw invalid('--target is needed: grpc://host:port, grpcs://host:port or unix:/path')
  const target = targetOf(options.target === undefined ? '--server' : '--target', named)
  const channel = dial(target, options)
  try {
    await check({ behaviours, target, channel }, options, terminal)
  } finally {
    channel.close()
  }
}

interface What {
  readonly behaviours: readonly ReapiBehaviour[]
  readonly target: Target
  readonly channel: ReturnType<typeof dial>
}

async function check({ behaviours, target, channel }: What, options: CheckOptions, terminal: Terminal) {
  const seed = options.seed ?? randomBytes(4).toString('hex')
  const { instance } = options
  const report = await checkReapi({
    channel,
    instance,
    behaviours,
    seed,
    platform: (options.platform ?? []).map((text) => pairOf('--platform', text)),
    clock: systemClock,
    deadlineMs: 1000 * positive('--deadline', options.deadline),
    atOnce: positive('--jobs', options.jobs),
    onResult: progress(behaviours.length, terminal),
  }).catch((error: unknown) => {
    throw error instanceof Unreachable ? wrong(`${target.text}: ${error.message}\n${NEXT}`, error) : error
  })
  if (terminal.errIsTerminal) terminal.err('\r\u001b[K')
  const { versions, results } = report
  if (options.junit !== undefined) writeReport(options.junit, junitReport('reapi', results))
  if (options.json) terminal.out(jsonReport({ suite: 'reapi', target: target.text, instance, seed, versions }, results))
  else {
    const of = instance === '' ? '' : `, instance ${instance}`
    terminal.out(`\nRemote Execution API ${versions} at ${target.text}${of} (seed ${seed})\n\n`)
    terminal.out(`${textReport(results, { colours: terminal.outIsTerminal && !terminal.env.NO_COLOR })}\n`)
  }
  if (tally(results).failed > 0) throw new ExitRequest(1)
}

/** A progress line on a terminal only. */
function progress(total: number, { errIsTerminal, err }: Terminal): (result: Result, done: number) => void {
  let failed = 0
  return ({ behaviour, outcome }, done) => {
    if (outcome.kind === 'failed') failed++
    if (errIsTerminal) err(`\r\u001b[K${done}/${total}, ${failed} failed  ${behaviour.id}`)
  }
}

function positive(flag: string, text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw wrong(`${flag}: ${text} is not a number above 0`)
  return flag === '--jobs' ? Math.ceil(number) : number
}

function writeReport(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw wrong(`--junit: ${error instanceof Error ? error.message : String(error)}`, error)
  }
}

function listed(behaviours: readonly ReapiBehaviour[]): string {
  const width = Math.max(...behaviours.map(({ id }) => id.length))
  return behaviours.map(({ id, level, sentence }) => `${id.padEnd(width)}  ${level.padEnd(6)}  ${sentence}\n`).join('')
}
