import { mkdirSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Terminal } from '../../app/process/terminal.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { type OpenedProcess, openProcess } from '../../cwl-runner/open-process.ts'
import type { StepOutcome } from '../../workflow/run/state.ts'
import { outputJson } from '../../workflow/values/output-json.ts'
import type { DialOptions } from '../session/dial-flags.ts'
import { ExitRequest } from '../session/verdict.ts'
import { type CwlProgress, cwlProgress } from './progress.ts'

export interface CwlRunFlags extends DialOptions {
  readonly outdir: string
  readonly quiet?: true
  readonly parallel?: number
  readonly container: boolean
  readonly instance: string
  readonly label?: readonly string[]
}

export interface CwlRunRequest {
  readonly process: string
  readonly job: string | undefined
  readonly flags: CwlRunFlags
}

const UNSUPPORTED = 33
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 } as const
const SIGNALS = Object.keys(SIGNAL_CODES) as (keyof typeof SIGNAL_CODES)[]

/** Behaves like every CWL runner: inputs in, output object on standard output, and an exit code for the result. */
export async function runCwl(order: CwlRunRequest, terminal: Terminal): Promise<void> {
  const leaving = new AbortController()
  let interrupted: number | undefined
  const heed = (signal: keyof typeof SIGNAL_CODES): void => {
    if (interrupted !== undefined) terminal.signals.exit(SIGNAL_CODES[signal])
    interrupted = SIGNAL_CODES[signal]
    leaving.abort()
  }
  for (const signal of SIGNALS) terminal.signals.on(signal, heed)
  try {
    const code = await judged(() => runOrder(order, terminal, leaving.signal), terminal)
    if (interrupted !== undefined) throw new ExitRequest(interrupted)
    if (code !== 0) throw new ExitRequest(code)
  } finally {
    for (const signal of SIGNALS) terminal.signals.off(signal, heed)
  }
}

/** An error in a document ends the run like a failed command; other errors are rethrown. */
async function judged(run: () => Promise<number>, terminal: Terminal): Promise<number> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    for (const line of error.message.split('\n')) terminal.err(`windlass: ${line}\n`)
    return error.fault.kind === 'invalid' && error.fault.why === 'unsupported' ? UNSUPPORTED : 1
  }
}

async function runOrder(order: CwlRunRequest, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const { flags, ...named } = order
  const opened: OpenedProcess = await openProcess({ ...named, cwd: resolve() })
  const outdir = openOutdir(flags.outdir)
  const progress = cwlProgress(terminal, { isQuiet: flags.quiet === true })
  try {
    const server = flags.server ?? terminal.env.WINDLASS_SERVER ?? ''
    const here = { opened, outdir, progress, terminal, signal }
    const outcome = await (server === '' ? runHere(order, here) : runThere(order, here, server))
    progress.close()
    if (outcome.kind === 'done') {
      terminal.out(`${outputJson(outcome.outputs)}\n`)
      return 0
    }
    for (const line of failureLines(outcome.path, outcome.why)) terminal.err(line)
    return outcome.unsupported ? UNSUPPORTED : 1
  } finally {
    progress.close()
  }
}

interface Surroundings {
  readonly opened: OpenedProcess
  readonly outdir: string
  readonly progress: CwlProgress
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

async function runHere({ flags }: CwlRunRequest, here: Surroundings): Promise<StepOutcome> {
  const { opened, outdir, progress: watch, terminal, signal } = here
  const { parallel, container: useContainers } = flags
  const { runOnMachine } = await import('../../app/cwl/run-on-machine.ts')
  return runOnMachine({ ...opened, outdir }, { env: terminal.env, parallel, useContainers, watch, signal })
}

async function runThere(
  { process: name, flags }: CwlRunRequest,
  here: Surroundings,
  server: string,
): Promise<StepOutcome> {
  const { opened, outdir, progress, signal } = here
  const { runOnServer } = await import('./server.ts')
  const { watch, sent } = { watch: progress, sent: progress.sent }
  return runOnServer({ ...opened, name, flags: { ...flags, server }, outdir, watch, sent, signal })
}

const failureLines = (path: string, why: string): readonly string[] =>
  why.split('\n').map((line) => `windlass: ${path === '' ? '' : `${path}: `}${line}\n`)

function openOutdir(named: string): string {
  try {
    mkdirSync(named, { recursive: true })
    return realpathSync(named)
  } catch (cause) {
    throw invalid(`--outdir: ${(cause as Error).message}`)
  }
}
