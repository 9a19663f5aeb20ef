import { z } from 'zod'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { InlineFile } from '../../model/command.ts'
import type { CommandTask } from '../../model/command-task.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import { ISOLATION_LEVELS } from '../../model/isolation.ts'
import { LANGUAGE_PROPERTY } from '../../model/language.ts'
import { type SnippetRequest, snippetOf } from '../../model/snippet.ts'
import { commandTaskFromProto } from '../../wire/tasks/command-task.ts'
import { type KnownRequest, MOST_NOTE_BYTES, NOTE_VERSION, type SnippetNote } from './snippet-note.ts'

/**
 * Rebuilds the request of an operation from the task and the note in the journal. The service needs this for operations
 * that an earlier process accepted. A task or a note of another program version may be unreadable: then the request
 * contains the readable parts.
 */
export function recordedRequest({ spec, note: noteBytes, instance }: OperationStatus): KnownRequest {
  const task = taskIn(spec)
  const note = noteFromBytes(noteBytes)
  return { request: requestOf({ task, note, instance }), note, fn: task?.fn ?? 'sha256' }
}

function taskIn(spec: Uint8Array): CommandTask | undefined {
  try {
    return commandTaskFromProto(spec)
  } catch {
    return undefined
  }
}

interface Recorded {
  readonly task: CommandTask | undefined
  readonly note: SnippetNote | undefined
  readonly instance: InstanceName
}

function requestOf({ task, note, instance }: Recorded): SnippetRequest {
  const run = task?.stages.at(-1)
  const language = task?.platform.find(({ name }) => name === LANGUAGE_PROPERTY)?.value.split('@', 1)[0]
  const files = task?.inputs.files ?? []
  const names = note?.files ?? files.map(({ path }) => path)
  const fromTask = {
    instance,
    language: note?.language ?? language ?? '',
    files: names.flatMap((name, at) => contentsAt(files, at).map((contents) => ({ name, contents }))),
    stdin: run?.stdin?.kind === 'inline' ? run.stdin.bytes : undefined,
    network: run?.network ?? false,
    outputs: task?.outputs.globs ?? [],
    cacheable: task?.cacheable ?? false,
  }
  if (note === undefined) return snippetOf(fromTask)
  const { args, compileLimits, runLimits, expected, metadata, callback, priority, invocation } = note
  return snippetOf({
    ...fromTask,
    version: note.wanted,
    args,
    env: note.env.map(([name, value]) => ({ name, value })),
    compileLimits,
    runLimits,
    expected,
    metadata,
    callback,
    idempotencyKey: note.key,
    priority,
    invocation,
    isolation: note.isolation,
    interactive: note.interactive,
  })
}

const contentsAt = (files: readonly InlineFile[], at: number): Uint8Array[] =>
  files.slice(at, at + 1).map(({ contents }) => contents)

export function noteFromBytes(bytes: Uint8Array | undefined): SnippetNote | undefined {
  if (bytes?.[0] !== NOTE_VERSION || bytes.length > MOST_NOTE_BYTES) return undefined
  try {
    const parsed = FORM.safeParse(JSON.parse(Buffer.from(bytes.subarray(1)).toString()))
    return parsed.success ? { ...DEFAULTS, ...withoutUndefined(parsed.data) } : undefined
  } catch {
    return undefined
  }
}

const withoutUndefined = <T extends object>(from: T): { [Key in keyof T]: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as never

const DEFAULTS = {
  wanted: undefined,
  version: undefined,
  args: [],
  env: [],
  compileLimits: {},
  runLimits: {},
  expected: undefined,
  expectedHash: undefined,
  metadata: {},
  callback: undefined,
  key: undefined,
  request: undefined,
  priority: undefined,
  invocation: undefined,
  isolation: undefined,
  interactive: undefined,
} as const satisfies Omit<SnippetNote, 'language' | 'files'>

const amount = z.number().positive().optional()
const limits = z
  .object({
    wallMs: amount,
    cpuMs: amount,
    memoryBytes: amount,
    pids: amount,
    fileBytes: amount,
    outputBytes: amount,
    openFiles: amount,
    diskBytes: amount,
    outputFloodBytes: amount,
    cpus: amount,
  })
  .transform(withoutUndefined)
const size = z.number().int().positive()

const FORM = z.object({
  language: z.string(),
  wanted: z.string().optional(),
  version: z.string().optional(),
  files: z.array(z.string()),
  args: z.array(z.string()).optional(),
  env: z.array(z.tuple([z.string(), z.string()])).optional(),
  compileLimits: limits.optional(),
  runLimits: limits.optional(),
  expected: z.string().optional(),
  expectedHash: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  callback: z
    .object({ url: z.string(), secret: z.string().optional(), form: z.string().optional() })
    .transform(({ url, secret, form }) => ({ url, secret, ...(form !== undefined && { form }) }))
    .optional(),
  key: z.string().optional(),
  request: z.string().optional(),
  priority: z.number().optional(),
  invocation: z.string().optional(),
  isolation: z.enum(ISOLATION_LEVELS).optional(),
  interactive: z
    .object({ pty: z.object({ rows: size, columns: size }).optional() })
    .transform(({ pty }) => ({ pty }))
    .optional(),
})
