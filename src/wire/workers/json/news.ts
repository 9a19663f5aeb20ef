import { z } from 'zod'
import { digestFunctionByName } from '../../../base/digest.ts'
import { invalid } from '../../../base/fault.ts'
import type { TaskNews } from '../status.ts'
import type { StreamOutputPiece } from '../stream.ts'
import { base64, maybe, readJson, shortText } from './read-json.ts'

/** How a task stands, as a worker puts it. */
export const TASK_WORDS = ['running', 'success', 'failed', 'timeout', 'cancelled', 'returned'] as const
export type TaskReportKind = (typeof TASK_WORDS)[number]

/** Words of others for the same. */
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

/** What a worker says about an attempt, as it said it. */
export interface JsonNews {
  /** Undefined when it left that to the exit code. */
  readonly word: TaskReportKind | undefined
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
  /** By the name of the output; what a worker could not know in advance is not looked into here. */
  readonly outputs: Readonly<Record<string, unknown>>
  /** In words, what went wrong. */
  readonly error: string
  readonly hopeless: boolean
  /** The worker returns the task because it had no free slot. */
  readonly noSlot: boolean
  /** The result is complete without `outputs` and similar fields. */
  readonly isWhole: boolean
  /** A serialised ActionResult, in place of the rest. */
  readonly result: Uint8Array | undefined
  readonly fn: Extract<TaskNews, { kind: 'result' }>['fn']
  /** What was printed since the last word. */
  readonly printed: readonly Pick<StreamOutputPiece, 'stream' | 'bytes' | 'at'>[]
}

const PIECE = z
  .object({ stream: z.enum(['stdout', 'stderr']), data: base64(), at: maybe(z.int().min(0)) })
  .transform(({ stream, data, at }) => ({ stream, bytes: data, at }))

const NEWS = z.object({
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

export function newsFromJson(said: unknown): JsonNews {
  const from = readJson(NEWS, said ?? {})
  const fn = from.digest_function === undefined ? undefined : digestFunctionByName(from.digest_function)
  if (from.digest_function !== undefined && fn === undefined) throw invalid('digest_function: it is not known here')
  return {
    word: wordOf(from.state),
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

/** In capitals or not. */
function wordOf(state = ''): TaskReportKind | undefined {
  const said = state.toLowerCase()
  if (said === '') return undefined
  const word = TASK_WORDS.find((one) => one === said) ?? (Object.hasOwn(SYNONYMS, said) ? SYNONYMS[said] : undefined)
  if (word === undefined) throw invalid(`state: it is one of ${TASK_WORDS.join(', ')}`)
  return word
}

const WORD_OF = {
  started: 'running',
  result: 'success',
  timeout: 'timeout',
  stopped: 'cancelled',
  returned: 'returned',
  fault: 'failed',
} as const satisfies Record<TaskNews['kind'], TaskReportKind>

/** As our own worker tells it: results are whole messages. */
export const newsToJson = (news: TaskNews): object => ({
  state: WORD_OF[news.kind],
  whole: true,
  ...('what' in news && { error: news.what }),
  ...('hopeless' in news && { hopeless: news.hopeless }),
  ...('noSlot' in news && { no_free_slot: news.noSlot }),
  ...('result' in news && news.result && { result: Buffer.from(news.result).toString('base64') }),
  ...('fn' in news && news.fn && { digest_function: news.fn }),
})

export const printedToJson = (pieces: readonly Pick<StreamOutputPiece, 'stream' | 'bytes' | 'at'>[]): object => ({
  output: pieces.map(({ stream, bytes, at }) => ({ stream, data: Buffer.from(bytes).toString('base64'), at })),
})
