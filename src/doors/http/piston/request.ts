import { posix } from 'node:path'
import type { Limits } from '../../../model/command.ts'
import type { InstanceName } from '../../../model/instance-name.ts'
import type { LanguageOffer } from '../../../model/language.ts'
import { type SnippetFile, type SnippetRequest, snippetOf } from '../../../model/snippet.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { PistonProblem } from './problem.ts'
import { type FoundRuntime, findRuntime } from './runtimes.ts'

/** Default and maximal limits of a run. */
export interface PistonLimits {
  readonly runMs: number
  readonly mostMs: number
}

export const PISTON_LIMITS: PistonLimits = { runMs: 3000, mostMs: 300_000 }

export interface ExecuteRules {
  readonly offers: readonly LanguageOffer[]
  /** Whether a worker is still testing this language. */
  readonly isAwaited: (language: string) => boolean
  readonly instance: InstanceName
  readonly limits: PistonLimits
}

export interface PistonRequest {
  readonly runtime: FoundRuntime
  readonly request: SnippetRequest
}

type Body = Readonly<Record<string, unknown>>

/** Reads the body of `execute`, or the first message of a socket. Errors have the order and the text of Piston's. */
export function readExecute(given: unknown, { offers, isAwaited, instance, limits }: ExecuteRules): PistonRequest {
  const body: Body = typeof given === 'object' && given !== null ? (given as Body) : {}
  const language = wordIn(body, 'language')
  const version = wordIn(body, 'version')
  const files = filesIn(body.files)
  const runtime = findRuntime(offers, language, version)
  if (runtime === undefined && isAwaited(language)) throw notNow(language)
  if (runtime === undefined) throw new PistonProblem(`${shortened(language)}-${shortened(version)} runtime is unknown`)
  const request = snippetOf({
    instance,
    language: runtime.offer.name,
    version: runtime.wanted,
    files: mainFirst(files),
    args: argsIn(body.args),
    stdin: Buffer.from(stdinIn(body.stdin)),
    compileLimits: limitsIn(body, 'compile', limits),
    runLimits: runLimitsIn(body, limits),
  })
  return { runtime, request }
}

const NOT_NOW_MS = 5000

const notNow = (language: string): PistonProblem =>
  new PistonProblem(`a worker is still testing ${shortened(language)}: try again in a few seconds`, 503, NOT_NOW_MS)

/** The offers of workers, after the requested language has passed its self-test. */
export async function offersFor(
  given: unknown,
  service: Pick<SnippetService, 'languages' | 'settled'>,
  signal: AbortSignal,
): Promise<readonly LanguageOffer[]> {
  const { language, version } = (given ?? {}) as Body
  if (typeof language === 'string' && typeof version === 'string') await service.settled({ language, version }, signal)
  return service.languages()
}

const shortened = (text: string): string => text.slice(0, 100)

function wordIn(body: Body, name: 'language' | 'version'): string {
  const value = body[name]
  if (typeof value !== 'string' || value === '') throw new PistonProblem(`${name} is required as a string`)
  return value
}

interface GivenFile extends SnippetFile {
  readonly isCode: boolean
}

/** A file that is not text is data, and never the program. */
const isText = (encoding: unknown): boolean => encoding !== 'base64' && encoding !== 'hex'

function filesIn(given: unknown): GivenFile[] {
  if (!Array.isArray(given)) throw new PistonProblem('files is required as an array')
  return given.map((file: Body | null, i) => {
    const { name, content, encoding } = file ?? {}
    if (typeof content !== 'string') throw new PistonProblem(`files[${i}].content is required as a string`)
    if (name !== undefined && name !== null && typeof name !== 'string')
      throw new PistonProblem(`files[${i}].name must be a string`)
    return {
      name: pathOf(name ?? ''),
      contents: bytesOf(content, encoding, `files[${i}].content`),
      isCode: isText(encoding),
    }
  })
}

/**
 * An absolute path is taken relative to the working directory. A path that leads out of it is refused when the files
 * are placed.
 */
const pathOf = (name: string): string => (name === '' ? '' : posix.normalize(name.replace(/^\/+/, '')))

function bytesOf(content: string, encoding: unknown, field: string): Uint8Array {
  if (isText(encoding)) return Buffer.from(content)
  const isHex = encoding === 'hex'
  const isRight = isHex ? content.length % 2 === 0 && !/[^0-9a-f]/i.test(content) : !/[^\w+/=\s-]/.test(content)
  if (!isRight) throw new PistonProblem(`${field} is not ${isHex ? 'hex' : 'base64'}`)
  return Buffer.from(content, isHex ? 'hex' : 'base64')
}

/**
 * Puts the program first: the first text file, even if other files precede it. A program without a name gets one here,
 * or from its language.
 */
function mainFirst(files: readonly GivenFile[]): SnippetFile[] {
  const main = files.find(({ isCode }) => isCode)
  if (main === undefined) throw new PistonProblem('files must include at least one utf8 encoded file')
  const others = files.flatMap((file, i) =>
    file === main ? [] : [{ name: file.name || `file${i}.code`, contents: file.contents }],
  )
  return [{ name: main.name, contents: main.contents }, ...others]
}

function argsIn(given: unknown): string[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given) || given.some((arg) => typeof arg !== 'string'))
    throw new PistonProblem('If specified, args must be an array of strings')
  return given
}

/** Adds a newline, so that programs that read a line find one even without input. */
function stdinIn(given: unknown): string {
  if (given !== undefined && given !== null && typeof given !== 'string')
    throw new PistonProblem('If specified, stdin must be a string')
  const text = given ?? ''
  return text.endsWith('\n') ? text : `${text}\n`
}

function runLimitsIn(body: Body, limits: PistonLimits): Limits {
  const wallMs = timeIn(body, 'run_timeout', limits) ?? limits.runMs
  // A longer wall time without a CPU time raises the CPU time too.
  return { wallMs, cpuMs: wallMs, ...limitsIn(body, 'run', limits) }
}

function limitsIn(body: Body, stage: 'compile' | 'run', limits: PistonLimits): Limits {
  const wallMs = timeIn(body, `${stage}_timeout`, limits)
  const cpuMs = timeIn(body, `${stage}_cpu_time`, limits)
  const memoryBytes = amountIn(body, `${stage}_memory_limit`)
  return {
    ...(wallMs !== undefined && { wallMs }),
    ...(cpuMs !== undefined && { cpuMs }),
    // A negative number means that the caller sets no limit: the default of the language applies.
    ...(memoryBytes !== undefined && memoryBytes > 0 && { memoryBytes }),
  }
}

/** For Piston a missing value and 0 are the same. */
function amountIn(body: Body, name: string): number | undefined {
  const value = body[name]
  if (value === undefined || value === null || value === 0 || value === false || value === '') return undefined
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new PistonProblem(`If specified, ${name} must be a number`)
  return Math.ceil(value)
}

function timeIn(body: Body, name: string, { mostMs }: PistonLimits): number | undefined {
  const value = amountIn(body, name)
  if (value === undefined) return undefined
  if (value > mostMs) throw new PistonProblem(`${name} cannot exceed the configured limit of ${mostMs}`)
  if (value < 0) throw new PistonProblem(`${name} must be non-negative`)
  return Math.max(1, value)
}
