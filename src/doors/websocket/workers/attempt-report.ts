import { constants } from 'node:os'
import type { AttemptReport } from '../../../engine/workers/worker-session.ts'
import type { StageResult, StageStream } from '../../../model/command-task.ts'
import { commandResultToProto } from '../../../wire/tasks/command-task-result.ts'
import { durationIn } from '../../amount-text.ts'
import type { ResultMessage } from './request.ts'
import type { GivenTask } from './response.ts'

export interface Reported {
  readonly given: GivenTask
  readonly worker: string
  /** On the monotonic clock. */
  readonly now: number
}

/**
 * Converts a worker's result message. A program that exits with 1 has a result; only a message without success and
 * without an exit code is a failure of the worker, and then another worker is tried.
 */
export function attemptReport(message: ResultMessage, { given, worker, now }: Reported): AttemptReport {
  const { success, error } = message
  if (given.isCancelled) return { outcome: { kind: 'stopped' } }
  const wallMs = wallTime(message, now - given.sentAt)
  const end = endOf(message, { wallMs, limitMs: given.limits.wallMs })
  if (end === undefined) {
    const why = error ? `: ${error.slice(0, 500)}` : success === false ? '' : ': it does not say how it ended'
    return { outcome: { kind: 'fault', what: `its worker could not run it${why}` } }
  }
  const stage: StageResult = {
    name: 'run',
    ...end,
    reason: undefined,
    stdout: streamOf(message.output, given.limits.outputBytes),
    stderr: streamOf(error, given.limits.outputBytes),
    usage: { wallMs, cpuUserMs: undefined, cpuSystemMs: undefined, peakMemoryBytes: undefined, how: 'sampled' },
  }
  const result = commandResultToProto({
    stages: [stage],
    outputs: { root: undefined, files: [], symlinks: [], problem: undefined },
    metadata: { worker, times: {}, virtualDurationMs: undefined, auxiliary: [] },
  })
  const { cause } = stage
  return { outcome: cause === 'timeout' ? { kind: 'timeout' } : { kind: 'result', succeeded: cause === 'ok' }, result }
}

type End = Pick<StageResult, 'cause' | 'exitCode' | 'signal'>

interface Times {
  readonly wallMs: number
  readonly limitMs: number | undefined
}

function endOf({ success, exitCode, cause }: ResultMessage, { wallMs, limitMs }: Times): End | undefined {
  const code = exitCode ?? (success === true ? 0 : undefined)
  if (cause != null && cause !== 'ok') return { cause, exitCode: code || 1, signal: undefined }
  // The protocol has no timeout state: a failed run that took its whole time limit counts as timed out.
  if (success !== true && code !== 0 && limitMs !== undefined && wallMs >= limitMs)
    return { cause: 'timeout', exitCode: code === undefined || code < 0 ? TIMED_OUT : code, signal: undefined }
  if (code === undefined) return undefined
  if (code === 0) return success === false ? undefined : { cause: 'ok', exitCode: 0, signal: undefined }
  return failed(code)
}

/** The exit code of timeout(1). */
const TIMED_OUT = 124
const SIGNALLED = 128

/** A negative exit code is a signal in some languages' libraries. −1 stands for anything that is not an exit. */
function failed(code: number): End {
  const signal = Object.entries(constants.signals).find(([, number]) => number === -code)?.[0]
  if (code < -1 && signal !== undefined) return { cause: 'signal', exitCode: SIGNALLED - code, signal }
  return { cause: 'exit', exitCode: code > 0 && code <= 255 ? code : 1, signal: undefined }
}

/** A time that a worker does not report, or that cannot be parsed, is measured here. */
function wallTime({ executionTime }: ResultMessage, measuredMs: number): number {
  if (typeof executionTime === 'number') return Math.max(0, executionTime) * 1000
  return (executionTime == null ? undefined : durationIn(executionTime)) ?? Math.max(0, measuredMs)
}

function streamOf(text: string | null | undefined, mostBytes = Number.POSITIVE_INFINITY): StageStream {
  const whole = Buffer.from(text ?? '')
  const inline = whole.subarray(0, mostBytes)
  return { inline, digest: undefined, droppedBytes: whole.length - inline.length, droppedAt: inline.length }
}
