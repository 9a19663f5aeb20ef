import { invalid } from '../../../base/fault.ts'
import type { CommandResult, StageCause, StageStream } from '../../../model/command-task.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { commandResultToProto } from '../../../wire/tasks/command-task-result.ts'
import { keptOutputs } from '../../../wire/workers/json/kept-outputs.ts'
import type { JsonNews, TaskReportKind } from '../../../wire/workers/json/news.ts'
import type { TaskNews } from '../../../wire/workers/status.ts'
import type { GivenPlainTask } from './response.ts'
import { outputsFrom, type SentBlobs, sentBlobs } from './sent-blobs.ts'
import { sentOutputs } from './sent-outputs.ts'

/** Standard output and error up to this length travel in the result. */
const INLINE_BYTES = 16 * 1024
const MOST_WORDS = 2000

export interface ReportingWorker {
  readonly worker: string
  readonly now: number
  /** The store of the task's instance. */
  readonly blobs: BlobStore
}

/** The report of a worker that sends whole results. */
export function newsWithResult(said: JsonNews): TaskNews {
  const { word, result, fn } = said
  if (word === 'success' || word === 'timeout') return { kind: word === 'success' ? 'result' : 'timeout', result, fn }
  return wordAlone(said, word)
}

/** The same for a worker that says it in words: exit code, what was printed, and files. Those are stored first. */
export async function newsFromText(said: JsonNews, given: GivenPlainTask, teller: ReportingWorker): Promise<TaskNews> {
  const { word = wordFor(said.exitCode), exitCode, error, stderr } = said
  const isOver = word === 'success' || word === 'timeout' || (word === 'failed' && exitCode !== undefined)
  // Without an exit code nothing ran: it is the worker that failed, and another one may not.
  if (!isOver) return wordAlone({ ...said, error: error || stderr.slice(-MOST_WORDS) }, word)
  const blobs = sentBlobs(given.fn)
  const result = resultOf({ ...said, word }, given, { ...teller, into: blobs })
  await blobs.store(teller.blobs)
  return { kind: word === 'timeout' ? 'timeout' : 'result', result: commandResultToProto(result), fn: given.fn }
}

function wordFor(exitCode: number | undefined): 'success' | 'failed' {
  if (exitCode === undefined) throw invalid('state: neither this nor exit_code says how it ended')
  return exitCode === 0 ? 'success' : 'failed'
}

function wordAlone({ error, hopeless, noSlot }: JsonNews, word: JsonNews['word']): TaskNews {
  const what = error.slice(0, MOST_WORDS)
  if (word === 'running') return { kind: 'started' }
  if (word === 'cancelled') return { kind: 'stopped' }
  if (word === 'returned') return { kind: 'returned', what, ...(noSlot && { noSlot }) }
  if (word === 'failed') return { kind: 'fault', what, hopeless }
  throw invalid('state: it does not say how the task stands')
}

type Ended = Omit<JsonNews, 'word'> & { readonly word: TaskReportKind }

function resultOf(
  said: Ended,
  given: GivenPlainTask,
  tools: ReportingWorker & { readonly into: SentBlobs },
): CommandResult {
  const { now, worker, into } = tools
  const { files, hasOthers } = sentOutputs(said.outputs, given.outputs)
  const { cause, exitCode, problem } = howItEnded(said)
  const startedAt = given.startedAt ?? given.givenAt
  const wallMs = Math.max(0, now - startedAt)
  return {
    stages: [
      {
        name: given.stage,
        cause,
        exitCode,
        signal: undefined,
        reason: said.error === '' ? undefined : said.error.slice(0, MOST_WORDS),
        stdout: streamOf(said.stdout, into),
        stderr: streamOf(said.stderr, into),
        usage: { wallMs, cpuUserMs: undefined, cpuSystemMs: undefined, peakMemoryBytes: undefined, how: 'sampled' },
      },
    ],
    outputs: { ...outputsFrom(files, into), symlinks: [], problem },
    metadata: {
      worker,
      times: {
        workerStart: stamp(given.givenAt),
        executionStart: stamp(startedAt),
        executionCompleted: stamp(now),
        workerCompleted: stamp(now),
      },
      virtualDurationMs: wallMs,
      auxiliary: hasOthers ? [keptOutputs(said.outputs)] : [],
    },
  }
}

interface HowItEnded {
  readonly cause: StageCause
  readonly exitCode: number
  readonly problem: string | undefined
}

const SIGKILLED = 137

/** An exit code is a fact, and the state a view of it; only that it failed with code 0 says more than the code. */
function howItEnded({ word, exitCode = 0, error }: Ended): HowItEnded {
  if (word === 'timeout') return { cause: 'timeout', exitCode: exitCode || SIGKILLED, problem: undefined }
  if (exitCode !== 0) return { cause: 'exit', exitCode, problem: undefined }
  const problem = word === 'failed' ? error.slice(0, MOST_WORDS) || 'its worker says that it failed' : undefined
  return { cause: 'ok', exitCode, problem }
}

function streamOf(text: string, into: SentBlobs): StageStream {
  const bytes = Buffer.from(text)
  const rest = { droppedBytes: 0, droppedAt: 0 }
  if (bytes.length <= INLINE_BYTES) return { inline: bytes, digest: undefined, ...rest }
  return { inline: undefined, digest: into.add(bytes), ...rest }
}

const stamp = (ms: number) => {
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: Math.floor((ms - seconds * 1000) * 1e6) }
}
