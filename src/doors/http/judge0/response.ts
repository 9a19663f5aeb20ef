import type { StageResult } from '../../../model/command-task.ts'
import type { LanguageOffer } from '../../../model/language.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import { hashOfText } from '../../../services/snippets/printed-hash.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import type { Judge0Limits } from './judge0-limits.ts'
import { type KeptOptions, keptIn } from './kept-options.ts'
import { idOf, languageNameOf } from './language-ids.ts'
import { judge0OutputOf } from './output.ts'
import { Judge0Problem } from './problem.ts'
import { isProject } from './project.ts'
import { type Judge0Field, TEXT_FIELDS } from './submission-fields.ts'
import { cpuMsOf, endMessageOf, type Judged, judged, STATUSES, signalNumber } from './submission-status.ts'
import { tokenOf } from './token.ts'

export interface AnswerOptions {
  readonly fields: readonly Judge0Field[]
  readonly isBase64: boolean
  readonly limits: Judge0Limits
  readonly offers: readonly LanguageOffer[]
  readonly blobs: BlobStore
  readonly mostBytes: number
}

/**
 * A submission has one or several runs. Of several, the first run that is not accepted determines the status, and times
 * are the mean of the runs up to it.
 */
export interface Judge0Runs {
  readonly first: SnippetStatus
  readonly others: readonly SnippetStatus[]
}

export type Judge0Answer = Readonly<Record<string, unknown>>

/** Throws a Judge0Problem when bytes are not UTF-8 and the client did not request Base64. */
export async function judge0Answer({ first, others }: Judge0Runs, options: AnswerOptions): Promise<Judge0Answer> {
  const kept = keptIn(first.request.metadata)
  const views: RunView[] = []
  for (const run of [first, ...others]) {
    const view = await viewOf(run, kept, options)
    views.push(view)
    if (view.judged.status !== 'accepted') break
  }
  const deciding = views.at(-1) as RunView
  const all = fieldsOf({ first, deciding, views, kept }, options)
  return Object.fromEntries(options.fields.map((field) => [field, fieldValue(field, all[field], options.isBase64)]))
}

interface RunView {
  readonly run: SnippetStatus
  readonly judged: Judged
  readonly stdout: Buffer | null
  readonly stderr: Buffer | null
  readonly compileOutput: Buffer | null
}

async function viewOf(run: SnippetStatus, kept: KeptOptions | undefined, options: AnswerOptions): Promise<RunView> {
  const printed = await judge0OutputOf(run, kept?.redirect_stderr_to_stdout === true, options)
  const expected = kept?.expected_hash
  const isRight = expected === undefined ? undefined : hashOfText((printed.stdout ?? '').toString()) === expected
  const { mostCpuTime, cpuTime } = options.limits
  const cpuLimitMs = (kept === undefined ? mostCpuTime : (kept.cpu_time_limit ?? cpuTime)) * 1000
  const outcome = judged(run, isRight, isProject(run.request.files) ? Number.POSITIVE_INFINITY : cpuLimitMs)
  const isCompiling = outcome.status === 'compile'
  return {
    run,
    judged: outcome,
    stdout: isCompiling ? null : printed.stdout,
    stderr: isCompiling ? null : printed.stderr,
    compileOutput: isCompiling && outcome.last?.cause === 'timeout' ? TOO_SLOW : printed.compileOutput,
  }
}

const TOO_SLOW = Buffer.from('Compilation time limit exceeded.')

interface Views {
  readonly first: SnippetStatus
  readonly deciding: RunView
  readonly views: readonly RunView[]
  readonly kept: KeptOptions | undefined
}

type Field = string | number | boolean | object | null

function fieldsOf(all: Views, { limits, offers }: AnswerOptions): Record<Judge0Field, Field> {
  const { first, deciding, kept } = all
  const { run, judged: outcome } = deciding
  const { request } = first
  const languageId = kept?.language_id ?? idOf(request.language)
  const source = isProject(request.files) ? undefined : request.files[0]?.contents
  return {
    token: tokenOf(first.id),
    source_code: source ? Buffer.from(source) : null,
    language_id: languageId,
    stdin: request.stdin ? Buffer.from(request.stdin) : null,
    expected_output: request.expected === undefined ? null : Buffer.from(request.expected),
    status_id: STATUSES[outcome.status].id,
    status: STATUSES[outcome.status],
    language: { id: languageId, name: languageNameOf(languageId, offers) },
    created_at: iso(first.createdAt),
    queued_at: iso(first.submittedAt),
    started_at: iso(run.startedAt),
    finished_at: iso(run.completedAt),
    updated_at: iso(run.completedAt ?? run.startedAt ?? first.createdAt),
    queue_host: null,
    execution_host: run.worker ?? null,
    ...resultFields(all),
    ...requestFields(kept, limits),
  }
}

function resultFields({ deciding, views }: Views) {
  const { run, judged: outcome, stdout, stderr, compileOutput } = deciding
  const ended = outcome.status === 'compile' ? undefined : outcome.last
  const usage = ended ? views : []
  return {
    stdout,
    stderr,
    compile_output: compileOutput,
    message: messageFor(outcome, run),
    time: seconds(mean(usage, (last) => cpuMsOf(last) ?? last.usage.wallMs)),
    wall_time: seconds(mean(usage, (last) => last.usage.wallMs)),
    memory: kilobytes(mean(usage, (last) => last.usage.peakMemoryBytes)),
    exit_code: ended === undefined || ended.signal !== undefined ? null : ended.exitCode,
    exit_signal: signalNumber(ended?.signal),
  }
}

/** The requested fields, or the default fields. */
const requestFields = (kept: Partial<KeptOptions> = {}, limits: Judge0Limits) => ({
  number_of_runs: kept.number_of_runs ?? 1,
  cpu_time_limit: decimal(kept.cpu_time_limit ?? limits.cpuTime),
  cpu_extra_time: decimal(kept.cpu_extra_time ?? limits.cpuExtraTime),
  wall_time_limit: decimal(kept.wall_time_limit ?? limits.wallTime),
  memory_limit: kept.memory_limit ?? limits.memory,
  stack_limit: kept.stack_limit ?? limits.stack,
  max_processes_and_or_threads: kept.max_processes_and_or_threads ?? limits.processes,
  max_file_size: kept.max_file_size ?? limits.fileSize,
  enable_per_process_and_thread_time_limit: false,
  enable_per_process_and_thread_memory_limit: false,
  redirect_stderr_to_stdout: kept.redirect_stderr_to_stdout ?? false,
  enable_network: kept.enable_network ?? false,
  compiler_options: null,
  command_line_arguments: kept.command_line_arguments ?? null,
  callback_url: kept.callback_url ?? null,
  additional_files: null,
})

function messageFor({ status, last }: Judged, { what }: SnippetStatus): Buffer | null {
  if (status === 'queue' || status === 'process' || status === 'compile') return null
  const words =
    status === 'internal' && last === undefined ? (what ?? 'it did not run') : last ? endMessageOf(last) : null
  return words === null ? null : Buffer.from(words)
}

/** Returns bytes as text, or as Base64 on request. Bytes that are not UTF-8 are an error that suggests Base64. */
function fieldValue(field: Judge0Field, value: Field, isBase64: boolean): unknown {
  if (!Buffer.isBuffer(value)) return value
  if (isBase64 && TEXT_FIELDS.has(field)) return value.toString('base64')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    throw new Judge0Problem(400, NO_TEXT)
  }
}

const NO_TEXT =
  'some attributes for this submission cannot be converted to UTF-8, use base64_encoded=true query parameter'

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

function mean(views: readonly RunView[], amount: (last: StageResult) => number | undefined): number | undefined {
  const amounts = views.flatMap(({ judged: { last } }) => (last && amount(last)) ?? [])
  return amounts.length === 0 ? undefined : amounts.reduce((sum, each) => sum + each, 0) / amounts.length
}

/** Judge0 encodes decimals as text. */
const seconds = (ms: number | undefined): string | null => (ms === undefined ? null : String(Math.round(ms) / 1000))
const decimal = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value))
const kilobytes = (bytes: number | undefined): number | null => (bytes === undefined ? null : Math.round(bytes / 1024))
