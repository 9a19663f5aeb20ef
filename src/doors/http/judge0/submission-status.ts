import { constants } from 'node:os'
import type { StageCause, StageResult } from '../../../model/command-task.ts'
import { isOver, type SnippetStatus } from '../../../model/snippet.ts'
import { isProject, projectCompile } from './project.ts'

/** The statuses of a submission, with Judge0's numbers and descriptions. */
export const STATUSES = {
  queue: { id: 1, description: 'In Queue' },
  process: { id: 2, description: 'Processing' },
  accepted: { id: 3, description: 'Accepted' },
  wrong: { id: 4, description: 'Wrong Answer' },
  time: { id: 5, description: 'Time Limit Exceeded' },
  compile: { id: 6, description: 'Compilation Error' },
  sigsegv: { id: 7, description: 'Runtime Error (SIGSEGV)' },
  sigxfsz: { id: 8, description: 'Runtime Error (SIGXFSZ)' },
  sigfpe: { id: 9, description: 'Runtime Error (SIGFPE)' },
  sigabrt: { id: 10, description: 'Runtime Error (SIGABRT)' },
  nonzero: { id: 11, description: 'Runtime Error (NZEC)' },
  other: { id: 12, description: 'Runtime Error (Other)' },
  internal: { id: 13, description: 'Internal Error' },
  exec: { id: 14, description: 'Exec Format Error' },
} as const

export type StatusName = keyof typeof STATUSES

const BY_CAUSE = {
  exit: 'nonzero',
  'pid-limit': 'nonzero',
  timeout: 'time',
  'cpu-time': 'time',
  'out-of-memory': 'other',
  'file-size': 'sigxfsz',
  'disk-limit': 'other',
  'output-limit': 'sigxfsz',
  'not-started': 'exec',
} as const satisfies Record<Exclude<StageCause, 'ok' | 'signal'>, StatusName>

/** Keyed by signal number, because some signals have several names. */
const BY_SIGNAL: Readonly<Record<number, StatusName>> = { 11: 'sigsegv', 25: 'sigxfsz', 8: 'sigfpe', 6: 'sigabrt' }

export interface Judged {
  readonly status: StatusName
  /** The stage that determines the status: the run stage, or the compile stage if it failed. */
  readonly last: StageResult | undefined
}

/** `isRight` is the door's own comparison of the output, where the service cannot compare. */
export function judged(snippet: SnippetStatus, isRight: boolean | undefined, cpuLimitMs: number): Judged {
  const { state, result, verdict, request } = snippet
  const last = result?.stages.at(-1)
  if (!isOver(snippet)) return { status: state === 'executing' ? 'process' : 'queue', last: undefined }
  if (result === undefined || last === undefined) return { status: state === 'timeout' ? 'time' : 'internal', last }
  const hasNotCompiled =
    (last.name === 'compile' && last.cause !== 'ok') || (isProject(request.files) && projectCompile(result).hasFailed)
  if (hasNotCompiled) return { status: 'compile', last }
  if (last.cause !== 'ok') return { status: failed(last), last }
  if ((cpuMsOf(last) ?? 0) > cpuLimitMs) return { status: 'time', last }
  if (isRight !== undefined) return { status: isRight ? 'accepted' : 'wrong', last }
  if (verdict === 'internal-error') return { status: 'internal', last }
  return { status: verdict === undefined || verdict === 'accepted' ? 'accepted' : 'wrong', last }
}

function failed({ cause, signal }: StageResult): StatusName {
  if (cause === 'ok') return 'accepted'
  return cause === 'signal' ? (BY_SIGNAL[signalNumber(signal) ?? 0] ?? 'other') : BY_CAUSE[cause]
}

export const cpuMsOf = ({ usage: { cpuUserMs, cpuSystemMs } }: StageResult): number | undefined =>
  cpuUserMs === undefined ? undefined : cpuUserMs + (cpuSystemMs ?? 0)

export const signalNumber = (name: string | undefined): number | null =>
  (name !== undefined && (constants.signals as Readonly<Record<string, number>>)[name]) || null

/** Explains an end that needs an explanation; null for others. */
export function endMessageOf({ cause, exitCode, signal, reason }: StageResult): string | null {
  switch (cause) {
    case 'ok':
      return null
    case 'exit':
      return `Exited with error status ${exitCode}`
    case 'signal':
      return `Caught fatal signal ${signalNumber(signal) ?? signal}`
    case 'timeout':
      return 'Time limit exceeded (wall clock)'
    case 'cpu-time':
      return 'Time limit exceeded'
    case 'out-of-memory':
      return 'Memory limit exceeded'
    default:
      return reason ?? `Ended by ${cause}`
  }
}
