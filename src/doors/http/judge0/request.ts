import { FaultError } from '../../../base/fault.ts'
import type { Limits } from '../../../model/command.ts'
import type { InstanceName } from '../../../model/instance-name.ts'
import type { LanguageOffer } from '../../../model/language.ts'
import { type SnippetFile, type SnippetRequest, snippetOf } from '../../../model/snippet.ts'
import { hashOfText } from '../../../services/snippets/printed-hash.ts'
import { splitCommandLine } from './command-line.ts'
import type { Judge0Limits, Judge0Switches } from './judge0-limits.ts'
import { type KeptOptions, keptMetadata } from './kept-options.ts'
import { idOf, languageWithId, PROJECT_ID } from './language-ids.ts'
import { Judge0Problem } from './problem.ts'
import { isCompiledFirst, PROJECT_OUTPUTS, projectFiles } from './project.ts'
import { zipFiles } from './zip-files.ts'

export interface Judge0Rules extends Judge0Switches {
  readonly offers: readonly LanguageOffer[]
  /** Names of languages that a worker is still testing: submissions for them wait in the queue. */
  readonly awaited: readonly string[]
  readonly instance: InstanceName
  readonly limits: Judge0Limits
  readonly isBase64: boolean
}

export interface Judge0Submission {
  readonly runs: number
  readonly kept: KeptOptions
  /** Builds the request with the options to store, once all of them are known. */
  request(kept: KeptOptions): SnippetRequest
}

type Body = Readonly<Record<string, unknown>>

const MOST_ARGUMENTS = 512
const MOST_FILES = 500

/** Collects the problems of all fields, so that the client gets them at once. */
class Complaints {
  readonly #errors: Record<string, string[]> = {}

  add(field: string, what: string): undefined {
    this.#errors[field] = [...(this.#errors[field] ?? []), what]
  }

  throwIfAny(): void {
    if (Object.keys(this.#errors).length > 0) throw new Judge0Problem(422, this.#errors)
  }
}

/** Throws a Judge0Problem that lists all errors. */
export async function readSubmission(given: unknown, rules: Judge0Rules): Promise<Judge0Submission> {
  const body: Body = typeof given === 'object' && given !== null && !Array.isArray(given) ? (given as Body) : {}
  const wrong = new Complaints()
  const id = numberIn(body, 'language_id', wrong)
  const language = languageFor(id, rules, wrong)
  const kept: KeptOptions = {
    language_id: id ?? 0,
    ...amountsIn(body, rules.limits, wrong),
    ...wordsIn(body, rules, wrong),
  }
  const source = bytesIn(body, 'source_code', { wrong, isBase64: rules.isBase64 })
  if (id !== PROJECT_ID && !source?.length) wrong.add('source_code', "can't be blank")
  if (id === PROJECT_ID && source?.length) wrong.add('source_code', 'must be blank')
  const stdin = bytesIn(body, 'stdin', { wrong, isBase64: rules.isBase64 })
  const expected = bytesIn(body, 'expected_output', { wrong, isBase64: rules.isBase64 })?.toString()
  const extra = await additionalFiles(body, rules, wrong)
  if (id === PROJECT_ID && extra.length === 0) wrong.add('additional_files', "can't be blank")
  const files = filesOf({ source, extra, isProject: id === PROJECT_ID }, wrong)
  const args = argumentsOf(kept, wrong)
  wrong.throwIfAny()
  if (
    language !== undefined &&
    !rules.awaited.includes(language) &&
    !rules.offers.some(({ name }) => name === language)
  )
    throw new Judge0Problem(503, `no live worker has ${language}`, NO_WORKER_MS)
  const isMixed = kept.redirect_stderr_to_stdout === true && expected !== undefined
  const base = snippetOf({
    instance: rules.instance,
    language: language ?? '',
    files,
    args,
    stdin: stdin?.length ? stdin : undefined,
    expected,
    network: kept.enable_network === true,
    runLimits: runLimitsOf(kept, rules.limits, files),
    outputs: id === PROJECT_ID ? PROJECT_OUTPUTS : [],
  })
  return {
    runs: kept.number_of_runs ?? 1,
    kept: { ...kept, ...(isMixed && { expected_hash: hashOfText(expected) }) },
    request: (whole) => ({ ...base, metadata: keptMetadata(whole) }),
  }
}

const NO_WORKER_MS = 30_000

function languageFor(id: number | undefined, { offers, awaited }: Judge0Rules, wrong: Complaints): string | undefined {
  if (id === undefined) return wrong.add('language_id', "can't be blank")
  const name = languageWithId(id, offers) ?? awaited.find((each) => idOf(each) === id)
  return name ?? wrong.add('language_id', `language with id ${id} doesn't exist`)
}

/** A number may be sent as text, as in Judge0. An empty text is not a number. */
function numberIn(body: Body, name: string, wrong: Complaints): number | undefined {
  const value = body[name]
  if (value === undefined || value === null || value === '') return undefined
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : wrong.add(name, 'is not a number')
}

/** Name, least and greatest value. */
const amountsFor = (limits: Judge0Limits) =>
  [
    ['number_of_runs', 1, limits.mostRuns],
    ['cpu_time_limit', 0, limits.mostCpuTime],
    ['cpu_extra_time', 0, limits.mostCpuExtraTime],
    ['wall_time_limit', 1, limits.mostWallTime],
    ['memory_limit', 2048, limits.mostMemory],
    ['stack_limit', 0, limits.mostStack],
    ['max_processes_and_or_threads', 1, limits.mostProcesses],
    ['max_file_size', 0, limits.mostFileSize],
  ] as const

function amountsIn(body: Body, limits: Judge0Limits, wrong: Complaints): Partial<KeptOptions> {
  const amounts: Record<string, number> = {}
  for (const [name, least, most] of amountsFor(limits)) {
    const value = numberIn(body, name, wrong)
    if (value === undefined) continue
    if (value < least) wrong.add(name, `must be greater than or equal to ${least}`)
    else if (value > most) wrong.add(name, `must be less than or equal to ${most}`)
    else amounts[name] = name === 'number_of_runs' ? Math.floor(value) : value
  }
  return amounts
}

/** Judge0's error message, followed by what to do. */
const NO_NETWORK =
  'enabling network is not allowed: the operator can grant it with allow = ["judge0"] under [execution.network]'

function wordsIn(body: Body, { hasCallbacks, mayUseNetwork }: Judge0Rules, wrong: Complaints): Partial<KeptOptions> {
  const line = textIn(body, 'command_line_arguments', wrong)
  if (line !== undefined && line.length > MOST_ARGUMENTS)
    wrong.add('command_line_arguments', `is too long (maximum is ${MOST_ARGUMENTS} characters)`)
  if (textIn(body, 'compiler_options', wrong)) wrong.add('compiler_options', 'setting compiler options is not allowed')
  const callback = textIn(body, 'callback_url', wrong)
  if (callback && !hasCallbacks) wrong.add('callback_url', 'setting callback is not allowed')
  const network = flagIn(body, 'enable_network')
  if (network && !mayUseNetwork) wrong.add('enable_network', NO_NETWORK)
  for (const each of ['enable_per_process_and_thread_time_limit', 'enable_per_process_and_thread_memory_limit'])
    if (flagIn(body, each)) wrong.add(each, 'this option cannot be enabled')
  return {
    ...(line && { command_line_arguments: line }),
    ...(callback && { callback_url: callback }),
    ...(network && { enable_network: true }),
    ...(flagIn(body, 'redirect_stderr_to_stdout') && { redirect_stderr_to_stdout: true }),
  }
}

const flagIn = (body: Body, name: string): boolean =>
  body[name] === true || body[name] === 'true' || body[name] === 1 || body[name] === '1'

function textIn(body: Body, name: string, wrong: Complaints): string | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : wrong.add(name, 'is not a text')
}

interface BytesWish {
  readonly wrong: Complaints
  readonly isBase64: boolean
}

function bytesIn(body: Body, name: string, { wrong, isBase64 }: BytesWish): Buffer | undefined {
  const text = textIn(body, name, wrong)
  if (text === undefined || !isBase64) return text === undefined ? undefined : Buffer.from(text)
  if (/[^A-Za-z0-9+/=_\s-]/.test(text)) return wrong.add(name, 'is not Base64')
  return Buffer.from(text, 'base64')
}

/** An archive is always Base64. */
async function additionalFiles(body: Body, { limits }: Judge0Rules, wrong: Complaints): Promise<SnippetFile[]> {
  const archive = bytesIn(body, 'additional_files', { wrong, isBase64: true })
  if (!archive?.length) return []
  try {
    return await zipFiles(archive, { mostFiles: MOST_FILES, mostBytes: limits.mostExtracted * 1024 })
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    wrong.add('additional_files', error.message)
    return []
  }
}

interface GivenFiles {
  readonly source: Buffer | undefined
  readonly extra: readonly SnippetFile[]
  readonly isProject: boolean
}

function filesOf({ source, extra, isProject }: GivenFiles, wrong: Complaints): SnippetFile[] {
  if (!isProject) return [{ name: '', contents: source ?? Buffer.alloc(0) }, ...extra]
  try {
    return extra.length === 0 ? [] : projectFiles(extra)
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    wrong.add('additional_files', error.message)
    return []
  }
}

function argumentsOf({ command_line_arguments: line = '' }: KeptOptions, wrong: Complaints): string[] {
  const words = splitCommandLine(line)
  if (words === undefined) wrong.add('command_line_arguments', 'has a quote that does not end')
  return words ?? []
}

/** Without explicit limits for memory, processes and file sizes, the limits of the language hold. */
function runLimitsOf(kept: KeptOptions, limits: Judge0Limits, files: readonly SnippetFile[]): Limits {
  const { memory_limit: memory, max_processes_and_or_threads: pids, max_file_size: fileSize } = kept
  // A project compiles as part of its run, and the client's time limit is not meant for compiling.
  const compileMs = isCompiledFirst(files) && files[0]?.name !== '' ? PROJECT_COMPILE_MS : 0
  const cpu = (kept.cpu_time_limit ?? limits.cpuTime) + (kept.cpu_extra_time ?? limits.cpuExtraTime)
  return {
    wallMs: Math.ceil((kept.wall_time_limit ?? limits.wallTime) * 1000) + compileMs,
    cpuMs: Math.max(1, Math.ceil(cpu * 1000)) + compileMs,
    ...(memory !== undefined && { memoryBytes: Math.ceil(memory * 1024) }),
    ...(pids !== undefined && { pids: Math.floor(pids) }),
    ...(fileSize !== undefined && { fileBytes: Math.max(1, Math.ceil(fileSize * 1024)) }),
  }
}

const PROJECT_COMPILE_MS = 30_000
