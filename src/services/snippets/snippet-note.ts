import { createHash } from 'node:crypto'
import type { DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type { Limits } from '../../model/command.ts'
import type { SnippetRequest } from '../../model/snippet.ts'
import { hashOfText } from './printed-hash.ts'

/**
 * The part of a request that the journal stores beside the task: fields that the task lacks or has in another form. One
 * byte for the version of this format, then JSON without default values. A note may be older than the program: an
 * unreadable note is undefined, and the caller uses the task alone.
 */
export interface SnippetNote {
  readonly language: string
  /** The version in the request, and the version that the service chose. */
  readonly wanted: string | undefined
  readonly version: string | undefined
  /** The names of the first files of the task, in this order. */
  readonly files: readonly string[]
  readonly args: readonly string[]
  readonly env: readonly (readonly [string, string])[]
  readonly compileLimits: Limits
  readonly runLimits: Limits
  /** Left out when it is long; the hash is set for every request with an expected output. */
  readonly expected: string | undefined
  readonly expectedHash: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly callback: SnippetRequest['callback']
  readonly key: string | undefined
  /** Hash of the whole request: distinguishes it from another request under the same key. */
  readonly request: string | undefined
  readonly priority: number | undefined
  readonly invocation: string | undefined
  readonly isolation: SnippetRequest['isolation']
  readonly interactive: SnippetRequest['interactive']
}

/** The request of an operation, as the service received it or as the journal kept it. */
export interface KnownRequest {
  readonly request: SnippetRequest
  readonly note: SnippetNote | undefined
  /** The digest function of the task, with which its result is read. */
  readonly fn: DigestFunction
}

export const NOTE_VERSION = 1
/** Slightly below the engine's limit. */
export const MOST_NOTE_BYTES = 60 * 1024
/** The note stores only the hash of a longer expected output. */
const MOST_EXPECTED = 16 * 1024

/** The service's choices for a request. */
export interface NoteChoices {
  readonly language: string
  readonly version: string | undefined
  /** Hash of the expected output of the run that this one repeats, when the text itself was not kept. */
  readonly expectedHash: string | undefined
}

export function noteOf(request: SnippetRequest, { language, version, expectedHash }: NoteChoices): SnippetNote {
  const { expected, files, args, env, compileLimits, runLimits, metadata, callback, priority, invocation } = request
  return {
    language,
    wanted: request.version,
    version,
    files: files.map(({ name }) => name),
    args,
    env: env.map(({ name, value }) => [name, value] as const),
    compileLimits,
    runLimits,
    expected: expected !== undefined && expected.length <= MOST_EXPECTED ? expected : undefined,
    expectedHash: expected === undefined ? expectedHash : hashOfText(expected),
    metadata,
    callback,
    key: request.idempotencyKey,
    request: request.idempotencyKey === undefined ? undefined : requestHash(request),
    priority,
    invocation,
    isolation: request.isolation,
    interactive: request.interactive,
  }
}

export function noteToBytes(note: SnippetNote): Uint8Array {
  const stated = Object.entries(note).filter(([, value]) => !isDefault(value))
  const bytes = Buffer.concat([Buffer.of(NOTE_VERSION), Buffer.from(JSON.stringify(Object.fromEntries(stated)))])
  if (bytes.length > MOST_NOTE_BYTES)
    throw invalid(`arguments, environment and metadata take more than ${MOST_NOTE_BYTES} bytes together`, 'range')
  return bytes
}

const isDefault = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** Hash of the whole request, independent of the order of its metadata. */
export function requestHash(request: SnippetRequest): string {
  const hash = createHash('sha256')
  const { files, stdin, metadata, env, ...rest } = request
  const sorted = Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1))
  const lengths = files.map(({ name, contents }) => [name, contents.length])
  hash.update(JSON.stringify([Object.entries(rest).sort(), sorted, env, lengths, stdin?.length]))
  for (const { contents } of files) hash.update(contents)
  if (stdin !== undefined) hash.update(stdin)
  return hash.digest('base64url')
}
