import { invalid } from '../../../base/fault.ts'
import type { CommandResult, StageCause, StageStream } from '../../../model/command-task.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { commandResultToProto } from '../../../wire/tasks/command-task-result.ts'
import { keptOutputs } from '../../../wire/workers/json/kept-outputs.ts'
import type { JsonReport, TaskReportKind } from '../../../wire/workers/json/report.ts'
import type { AttemptState } from '../../../wire/workers/report.ts'
import type { GivenPlainTask } from './response.ts'
import { outputsFrom, type SentBlobs, sentBlobs } from './sent-blobs.ts'
import { sentOutputs } from './sent-outputs.ts'

/** Standard output and error up to this length are sent inside the result. */
const INLINE_BYTES = 16 * 1024
const MOST_WORDS = 2000

export interface ReportingWorker {
  readonly worker: string
  readonly now: number
  /** The store of the task's instance. */
  readonly blobs: BlobStore
}

/** The report of a worker that sends whole results. */
export function newsWithResult(report: JsonReport): AttemptState {
  const { word, result, fn } = report
  if (word === 'success' || word === 'timeout') return { kind: word === 'success' ? 'result' : 'timeout', result, fn }
  return wordAlone(report, word)
}

/** Converts a report as text: exit code, output and files. The files are stored first. */
export async function newsFromText(
  report: JsonReport,
  given: GivenPlainTask,
  reporter: ReportingWorker,
): Promise<AttemptState> {
  const { word = wordFor(report.exitCode), exitCode, error, stderr } = report
  const isOver = word === 'success' || word === 'timeout' || (word === 'failed' && exitCode !== undefined)
  // Without an exit code nothing ran: the worker failed, and another worker may succeed.
  if (!isOver) return wordAlone({ ...report, error: error || stderr.slice(-MOST_WORDS) }, word)
  const blobs = sentBlobs(given.fn)
  const result = resultOf({ ...report, word }, given, { ...reporter, into: blobs })
  await blobs.store(reporter.blobs)
  return { kind: word === 'timeout' ? 'timeout' : 'result', result: commandResultToProto(result), fn: given.fn }
}

function wordFor(exitCode: number | undefined): 'success' | 'failed' {
  if (exitCode === undefined) throw invalid('state: must be set when exit_code is not')
  return exitCode === 0 ? 'success' : 'failed'
}

function wordAlone({ error, hopeless, noSlot }: JsonReport, word: JsonReport['word']): AttemptState {
  const what = error.slice(0, MOST_WORDS)
  if (word === 'running') return { kind: 'started' }
  if (word === 'cancelled') return { kind: 'stopped' }
  if (word === 'returned') return { kind: 'returned', what, ...(noSlot && { noSlot }) }
  if (word === 'failed') return { kind: 'fault', what, hopeless }
  throw invalid('state: must be the state of the task')
}

type Ended = Omit<JsonReport, 'word'> & { readonly word: TaskReportKind }

function resultOf(
  report: Ended,
  given: GivenPlainTask,
  tools: ReportingWorker & { readonly into: SentBlobs },
): CommandResult {
  const { now, worker, into } = tools
  const { files, hasOthers } = sentOutputs(report.outputs, given.outputs)
  const { cause, exitCode, problem } = howItEnded(report)
  const startedAt = given.startedAt ?? given.givenAt
  const wallMs = Math.max(0, now - startedAt)
  return {
    stages: [
      {
        name: given.stage,
        cause,
        exitCode,
        signal: undefined,
        reason: report.error === '' ? undefined : report.error.slice(0, MOST_WORDS),
        stdout: streamOf(report.stdout, into),
        stderr: streamOf(report.stderr, into),
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
      auxiliary: hasOthers ? [keptOutputs(report.outputs)] : [],
    },
  }
}

interface HowItEnded {
  readonly cause: StageCause
  readonly exitCode: number
  readonly problem: string | undefined
}

const SIGKILLED = 137

/** The exit code decides; the state adds something only when it is `failed` with exit code 0. */
function howItEnded({ word, exitCode = 0, error }: Ended): HowItEnded {
  if (word === 'timeout') return { cause: 'timeout', exitCode: exitCode || SIGKILLED, problem: undefined }
  if (exitCode !== 0) return { cause: 'exit', exitCode, problem: undefined }
  const problem =
    word === 'failed' ? error.slice(0, MOST_WORDS) || 'its worker reported a failure without a reason' : undefined
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
