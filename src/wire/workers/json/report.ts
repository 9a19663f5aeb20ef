import { z } from 'zod'
import { digestFunctionByName } from '../../../base/digest.ts'
import { invalid } from '../../../base/fault.ts'
import type { AttemptState, StreamOutputPiece } from '../report.ts'
import { base64, maybe, readJson, shortText } from './read-json.ts'

/** The state of a task in the report of a worker. */
export const REPORT_KINDS = ['running', 'success', 'failed', 'timeout', 'cancelled', 'returned'] as const
export type TaskReportKind = (typeof REPORT_KINDS)[number]

/** The names that other workers use. */
const SYNONYMS: Readonly<Record<string, TaskReportKind>> = {
  executing: 'running',
  started: 'running',
  completed: 'success',
  succeeded: 'success',
  failure: 'failed',
  error: 'failed',
  timed_out: 'timeout',
  canceled: 'cancelled',
  stopped: 'cancelled',
  queued: 'returned',
  retrying: 'returned',
}

/** The report of a worker about an attempt, as it was sent. */
export interface JsonReport {
  /** Undefined when the exit code determines the state. */
  readonly word: TaskReportKind | undefined
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
  /** Keyed by the name of the output. The values are not checked here. */
  readonly outputs: Readonly<Record<string, unknown>>
  /** The error message. */
  readonly error: string
  readonly hopeless: boolean
  /** The worker returns the task because it had no free slot. */
  readonly noSlot: boolean
  /** The result is complete without `outputs` and similar fields. */
  readonly isWhole: boolean
  /** A serialised ActionResult, which replaces the other fields. */
  readonly result: Uint8Array | undefined
  readonly fn: Extract<AttemptState, { kind: 'result' }>['fn']
  /** The output that the command has written since the last report. */
  readonly printed: readonly Pick<StreamOutputPiece, 'stream' | 'bytes' | 'at'>[]
}

const PIECE = z
  .object({ stream: z.enum(['stdout', 'stderr']), data: base64(), at: maybe(z.int().min(0)) })
  .transform(({ stream, data, at }) => ({ stream, bytes: data, at }))

const REPORT = z.object({
  state: maybe(shortText()),
  exit_code: maybe(
    z
      .int()
      .min(-(2 ** 31))
      .max(2 ** 31 - 1),
  ),
  stdout: maybe(z.string()),
  stderr: maybe(z.string()),
  outputs: maybe(z.record(z.string(), z.unknown())),
  error: maybe(z.string()),
  hopeless: maybe(z.boolean()),
  no_free_slot: maybe(z.boolean()),
  whole: maybe(z.boolean()),
  result: maybe(base64()),
  digest_function: maybe(shortText()),
  output: maybe(z.array(PIECE).max(1000)),
})

export function reportFromJson(json: unknown): JsonReport {
  const from = readJson(REPORT, json ?? {})
  const fn = from.digest_function === undefined ? undefined : digestFunctionByName(from.digest_function)
  if (from.digest_function !== undefined && fn === undefined) throw invalid('digest_function: is not known')
  return {
    word: kindOf(from.state),
    exitCode: from.exit_code,
    stdout: from.stdout ?? '',
    stderr: from.stderr ?? '',
    outputs: from.outputs ?? {},
    error: from.error ?? '',
    hopeless: from.hopeless ?? false,
    noSlot: from.no_free_slot ?? false,
    isWhole: from.whole ?? false,
    result: from.result,
    fn,
    printed: from.output ?? [],
  }
}

/** Accepts upper and lower case. */
function kindOf(state = ''): TaskReportKind | undefined {
  const name = state.toLowerCase()
  if (name === '') return undefined
  const kind = REPORT_KINDS.find((one) => one === name) ?? (Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined)
  if (kind === undefined) throw invalid(`state: must be one of ${REPORT_KINDS.join(', ')}`)
  return kind
}

const KIND_OF = {
  started: 'running',
  result: 'success',
  timeout: 'timeout',
  stopped: 'cancelled',
  returned: 'returned',
  fault: 'failed',
} as const satisfies Record<AttemptState['kind'], TaskReportKind>

/** The report of our own worker: its result is a complete message. */
export const reportToJson = (report: AttemptState): object => ({
  state: KIND_OF[report.kind],
  whole: true,
  ...('what' in report && { error: report.what }),
  ...('hopeless' in report && { hopeless: report.hopeless }),
  ...('noSlot' in report && { no_free_slot: report.noSlot }),
  ...('result' in report && report.result && { result: Buffer.from(report.result).toString('base64') }),
  ...('fn' in report && report.fn && { digest_function: report.fn }),
})

export const printedToJson = (pieces: readonly Pick<StreamOutputPiece, 'stream' | 'bytes' | 'at'>[]): object => ({
  output: pieces.map(({ stream, bytes, at }) => ({ stream, data: Buffer.from(bytes).toString('base64'), at })),
})
