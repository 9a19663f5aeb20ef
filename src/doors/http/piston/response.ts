import type { StageCause, StageResult } from '../../../model/command-task.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import { type OutputTextOptions, outputText } from '../../../services/snippets/output-text.ts'
import { PistonProblem } from './problem.ts'
import type { PistonRuntime } from './runtimes.ts'

/** The result of one stage. Values that were not measured are left out: clients accept only numbers there. */
export interface PistonStage extends PistonEnd {
  readonly stdout: string
  readonly stderr: string
  readonly output: string
  readonly cpu_time?: number
  readonly wall_time?: number
  readonly memory?: number
  /** An extension: Piston kills a program that prints more than the limit. */
  readonly truncated?: true
}

export interface PistonEnd {
  /** Null when a signal ended the program. */
  readonly code: number | null
  readonly signal: string | null
  readonly message: string | null
  /** RE: exit code other than 0; SG: signal; TO: timeout; OL: output limit; XX: failure of the grid. */
  readonly status: 'RE' | 'SG' | 'TO' | 'OL' | 'XX' | null
}

export interface PistonAnswer extends Pick<PistonRuntime, 'language' | 'version'> {
  readonly run: PistonStage
  readonly compile?: PistonStage
}

/** Throws a PistonProblem for a task that did not run. */
export async function executeAnswer(
  status: SnippetStatus,
  { language, version }: PistonRuntime,
  options: OutputTextOptions,
): Promise<PistonAnswer> {
  const stages = status.result?.stages ?? []
  const compiled = stages.find(({ name }) => name === 'compile')
  const ran = stages.find(({ name }) => name !== 'compile')
  const compile = compiled && (await stageOf(compiled, options))
  // Clients look at `run` first: a run stage that was not reached has the result of the compile stage.
  const run = ran ? await stageOf(ran, options) : (compile ?? unrun(status))
  return { run, ...(compile && { compile }), language, version }
}

function unrun({ state, what, noWorker }: SnippetStatus): PistonStage {
  if (state === 'timeout') return { stdout: '', stderr: '', output: '', ...endOfCause('timeout') }
  throw new PistonProblem(what ?? 'it did not run', noWorker ? 503 : 500)
}

async function stageOf(stage: StageResult, options: OutputTextOptions): Promise<PistonStage> {
  const [stdout, stderr] = [await outputText(stage.stdout, options), await outputText(stage.stderr, options)]
  const { wallMs, cpuUserMs, cpuSystemMs, peakMemoryBytes } = stage.usage
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    output: stdout.text + stderr.text,
    ...stageEnd(stage),
    ...(cpuUserMs !== undefined && { cpu_time: Math.round(cpuUserMs + (cpuSystemMs ?? 0)) }),
    wall_time: Math.round(wallMs),
    ...(peakMemoryBytes !== undefined && { memory: peakMemoryBytes }),
    ...((stdout.truncated || stderr.truncated) && { truncated: true }),
  }
}

/** How a stage ended. */
export function stageEnd({ cause, exitCode, signal, reason }: StageResult): PistonEnd {
  if (cause === 'ok') return { code: exitCode, signal: null, message: null, status: null }
  if (cause === 'exit' || cause === 'pid-limit')
    return { code: exitCode, signal: null, message: reason ?? `Exited with error status ${exitCode}`, status: 'RE' }
  if (cause === 'signal') {
    const name = signal === 'SIGIOT' ? 'SIGABRT' : (signal ?? 'SIGKILL') // two names of one signal
    return { code: null, signal: name, message: reason ?? `Caught fatal signal ${name}`, status: 'SG' }
  }
  return endOfCause(cause, reason)
}

type ForcedCause = Exclude<StageCause, 'ok' | 'exit' | 'pid-limit' | 'signal'>

const FORCED = {
  timeout: ['TO', 'Time limit exceeded (wall clock)'],
  'cpu-time': ['TO', 'Time limit exceeded'],
  'out-of-memory': ['SG', 'Memory limit exceeded'],
  'file-size': ['SG', 'File size limit exceeded'],
  'disk-limit': ['SG', 'Disk limit exceeded'],
  'output-limit': ['OL', 'stdout length exceeded'],
  'not-started': ['XX', 'The program could not be started'],
} as const satisfies Record<ForcedCause, readonly [PistonEnd['status'], string]>

function endOfCause(cause: ForcedCause, reason?: string): PistonEnd {
  const [status, message] = FORCED[cause]
  const isKilled = cause !== 'not-started'
  return { code: null, signal: isKilled ? 'SIGKILL' : null, message: isKilled ? message : (reason ?? message), status }
}
