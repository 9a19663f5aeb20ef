import { constants } from 'node:os'
import { FaultError } from '../../base/fault.ts'
import type { Limits } from '../../model/command.ts'
import type { LaunchExit } from '../launcher/launcher.ts'
import type { LaunchOutcome } from './launch-run.ts'
import type { Output, RunCause, RunEnd } from './runtime.ts'

/** Chooses the cause. An action of the worker takes precedence over the command's own end. */
export function runEnd(outcome: LaunchOutcome, limits: Limits): RunEnd {
  const { end, stopped, wallMs, stdout, stderr } = outcome
  if (end.kind === 'refused') return refused(end.code, end.what)
  const { code, signal, over, pidsRefused, hasSurvivors, usage } = end.exit
  const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  const { allowedMs = limits.wallMs } = outcome
  const { cause, reason } = causeOf({ exitCode, signal, stopped, over, pidsRefused, allowedMs, limits })
  const refusal = `it was refused more than ${limits.pids} processes`
  const notes = [
    reason,
    pidsRefused && exitCode !== 0 && reason !== refusal ? refusal : undefined,
    hasSurvivors ? 'not all of its processes could be ended' : undefined,
  ].filter((note) => note !== undefined)
  return {
    cause,
    exitCode,
    signal: signal ?? undefined,
    reason: notes.length === 0 ? undefined : notes.join('; '),
    usage: { wallMs, ...usage },
    stdout,
    stderr,
  }
}

interface Evidence {
  readonly exitCode: number
  readonly signal: NodeJS.Signals | null
  readonly stopped: LaunchOutcome['stopped']
  readonly over: LaunchExit['over']
  readonly pidsRefused: boolean
  readonly allowedMs: number | undefined
  readonly limits: Limits
}

interface Verdict {
  readonly cause: RunCause
  readonly reason?: string
}

function causeOf({ exitCode, signal, stopped, over, pidsRefused, allowedMs, limits }: Evidence): Verdict {
  if (stopped === 'cancelled') return { cause: 'cancelled', reason: 'it was cancelled' }
  if (stopped === 'timeout') return { cause: 'timeout', reason: `it ran for longer than ${allowedMs} ms` }
  if (over === 'cpu' || signal === 'SIGXCPU')
    return { cause: 'cpu-time', reason: `it used more than ${limits.cpuMs} ms of processor time` }
  // A compiler whose helper was killed for lack of memory exits with 1; lack of memory is still the cause.
  if (over === 'memory' && exitCode !== 0)
    return { cause: 'out-of-memory', reason: `it needed more than ${limits.memoryBytes} bytes of memory` }
  const isOneFile = signal === 'SIGXFSZ' && limits.diskBytes !== undefined
  if (over === 'disk' || (isOneFile && limits.diskBytes < (limits.fileBytes ?? Number.POSITIVE_INFINITY)))
    return { cause: 'disk-limit', reason: `its room held more than ${limits.diskBytes} bytes` }
  if (over === 'output')
    return { cause: 'output-limit', reason: `it wrote more than ${limits.outputFloodBytes} bytes of output` }
  if (signal === 'SIGXFSZ')
    return { cause: 'file-size', reason: `it wrote a file of more than ${limits.fileBytes} bytes` }
  if (pidsRefused && exitCode !== 0)
    return { cause: 'pid-limit', reason: `it was refused more than ${limits.pids} processes` }
  if (signal !== null) return { cause: 'signal', reason: `it was ended by ${signal}` }
  return { cause: exitCode === 0 ? 'ok' : 'exit' }
}

/** Errors of the program or its arguments, which occur on every worker. */
const THEIRS: ReadonlySet<string> = new Set([
  ...['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'E2BIG', 'ELOOP', 'ENAMETOOLONG', 'EISDIR', 'EINVAL', 'ELIBBAD'],
])

/** Too many processes or too little memory: temporary, and not the command's failure. */
function refused(code: string, what: string): RunEnd {
  if (THEIRS.has(code)) return notStarted(code, what)
  throw new FaultError({ kind: 'unavailable', what: `no process could be started: ${what}` })
}

export const NO_OUTPUT: Output = { bytes: new Uint8Array(0), droppedBytes: 0, droppedAt: 0 }

const NOTHING_USED = { wallMs: 0, cpuUserMs: 0, cpuSystemMs: 0, peakMemoryBytes: 0, how: 'counted' } as const

/** Writes the exit code and the message that a shell would print, because users look for them in standard error. */
export function notStarted(code: string, what: string): RunEnd {
  return {
    cause: 'not-started',
    exitCode: code === 'ENOENT' ? 127 : 126,
    signal: undefined,
    reason: what,
    usage: NOTHING_USED,
    stdout: NO_OUTPUT,
    stderr: { ...NO_OUTPUT, bytes: Buffer.from(`windlass: ${what}\n`) },
  }
}

export const cancelledBeforeStart: RunEnd = {
  cause: 'cancelled',
  exitCode: 128 + constants.signals.SIGKILL,
  signal: undefined,
  reason: 'it was cancelled before it was started',
  usage: NOTHING_USED,
  stdout: NO_OUTPUT,
  stderr: NO_OUTPUT,
}

/** Some signals have several names; the first is the common one. */
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name as NodeJS.Signals] as const)
    .reverse(),
)

/**
 * The program that makes the room reports the command's end as a shell would: 128 plus the signal number. So exit code
 * 137 counts as SIGKILL, as container engines do.
 */
export function innerExit(exit: LaunchExit): LaunchExit {
  const signal = exit.code === null ? undefined : SIGNALS.get(exit.code - 128)
  return signal === undefined ? exit : { ...exit, code: null, signal }
}

/**
 * A failed start is an error of the worker, because the program that failed is the worker's own. Arguments that are too
 * long are the exception.
 */
export function mustHaveStarted(end: LaunchOutcome['end'], name: string): void {
  if (end.kind === 'refused' && end.code !== 'E2BIG') throw broken(name, end.what)
}

/** The room could not be made: not the command's failure, and another worker may succeed. */
export const broken = (name: string, words: string): FaultError =>
  new FaultError({ kind: 'unavailable', what: `the ${name} could not be set up: ${words.trim().slice(0, 500)}` })
