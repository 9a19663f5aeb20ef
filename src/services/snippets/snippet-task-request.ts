import { createHash } from 'node:crypto'
import type { TaskRequest } from '../../engine/tasks/task-request.ts'
import { chooseVersion } from '../../languages/choose-version.ts'
import { findLanguage } from '../../languages/find-language.ts'
import type { Language } from '../../model/language.ts'
import type { TaskForm } from '../../model/properties/task-form.ts'
import type { SnippetRequest } from '../../model/snippet.ts'
import type { Durability } from '../../storage/journal/fact.ts'
import { commandTaskRequest } from '../execution/task-request.ts'
import { hashOfText } from './printed-hash.ts'
import { noteToBytes, type SnippetNote } from './snippet-note.ts'
import { SnippetRefusal } from './snippet-refusal.ts'
import { type KnownRequest, SNIPPET_ORIGIN } from './snippet-status.ts'
import type { SnippetTools } from './snippet-tools.ts'

export interface SnippetTaskOptions {
  readonly request: SnippetRequest
  readonly durability: Durability
  /** The caller waits for the end, and gets no acknowledgement before it. */
  readonly deferAck?: boolean
  /** Hash of the expected output of the run that this one repeats, when the text itself was not kept. */
  readonly expectedHash?: string | undefined
}

/** A longer expected output is kept as a hash only. */
const MOST_EXPECTED = 16 * 1024

export interface SnippetTask {
  readonly taskRequest: TaskRequest & { readonly operation: string }
  readonly known: KnownRequest
}

export function snippetTaskRequest(options: SnippetTaskOptions, operation: string, tools: SnippetTools): SnippetTask {
  const { request, durability } = options
  const language = languageOf(request.language, tools.languages)
  const version = versionFor(request, language, tools)
  const task = tools.lower(request, language, version.pinned)
  const estimateMs = tools.durations.estimateMs(language.name, codeHashOf(request))
  const note = noteOf(options, language.name, version.told)
  const taskRequest = commandTaskRequest(task, {
    instance: request.instance,
    origin: SNIPPET_ORIGIN,
    form: formOf(request, language),
    durability: request.interactive === undefined ? durability : 'process', // its client is gone after a power failure
    mayStartEarly: !request.network,
    // A task with effects outside must be durable first; a second request with the same key is acknowledged at once.
    ...(options.deferAck === true && !request.network && request.idempotencyKey === undefined && { isToldLate: true }),
    operation,
    note: noteToBytes(note),
    ...(request.priority !== undefined && { priority: request.priority }),
    ...(request.invocation !== undefined && { invocation: request.invocation }),
    ...(estimateMs !== undefined && { estimateMs }),
    ...(version.pinned !== undefined && { salt: `${language.name}@${version.pinned}` }),
  })
  const kept = { ...request, language: language.name, expected: note.expected }
  return { taskRequest: { ...taskRequest, operation }, known: { request: kept, note, fn: task.fn } }
}

function languageOf(wanted: string, languages: readonly Language[]): Language {
  const language = findLanguage(languages, wanted)
  if (language === undefined) throw new SnippetRefusal('language', `no language is called ${quoted(wanted)} here`)
  return language
}

/**
 * A task requires a version only when the caller asked for one, or when the result is cached for others; else any
 * worker with the language fits, also one that reports no version.
 */
export const asksForVersion = ({ version, cacheable }: SnippetRequest): boolean => version !== undefined || cacheable

function versionFor(request: SnippetRequest, { name }: Language, tools: SnippetTools) {
  const { version: wanted } = request
  const offer = tools.offers.of(name)
  const isAwaited = offer === undefined && tools.awaited.isAwaited(name)
  // The scheduler keeps a task without a version in its queue until the worker that tests the language offers it.
  if (isAwaited && !asksForVersion(request)) return { pinned: undefined, told: undefined }
  if (offer === undefined)
    throw new SnippetRefusal(
      'no-worker',
      isAwaited ? `workers are still testing ${name}` : `no live worker has ${name}`,
    )
  if (!asksForVersion(request)) return { pinned: undefined, told: offer.only }
  const pinned = chooseVersion(wanted, offer.versions)
  if (pinned === undefined && wanted !== undefined) {
    const there =
      offer.versions.length === 0 ? 'its workers do not say theirs' : `there are ${offer.versions.join(', ')}`
    throw new SnippetRefusal('version', `no version of ${name} is ${quoted(wanted)}: ${there}`)
  }
  return { pinned, told: pinned }
}

/** Code and the name of its language are enough for a worker of the simplest kind; anything beyond that needs ours. */
function formOf(request: SnippetRequest, { fileName }: Language): TaskForm {
  const { files, stdin, args, env, outputs, interactive, network, isolation, cacheable } = request
  const isSimple =
    files.length === 1 &&
    (files[0]?.name === fileName || files[0]?.name === '') &&
    stdin === undefined &&
    args.length + env.length + outputs.length === 0 &&
    interactive === undefined &&
    isolation === undefined &&
    !network &&
    !cacheable
  return isSimple ? 'snippet' : 'command'
}

function noteOf(
  { request, expectedHash }: SnippetTaskOptions,
  language: string,
  version: string | undefined,
): SnippetNote {
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

/** Hash of the code: runs with the same code take about the same time. */
export function codeHashOf({ files }: Pick<SnippetRequest, 'files'>): string {
  const hash = createHash('sha256')
  for (const { contents } of files) hash.update(`${contents.length} `).update(contents.subarray(0, 64 * 1024))
  return hash.digest('base64url')
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100))
