import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { InlineFile } from '../../model/command.ts'
import type { CommandTask } from '../../model/command-task.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import { LANGUAGE_PROPERTY } from '../../model/language.ts'
import { type SnippetRequest, snippetOf } from '../../model/snippet.ts'
import { commandTaskFromProto } from '../../wire/tasks/command-task.ts'
import { noteFromBytes, type SnippetNote } from './snippet-note.ts'
import type { KnownRequest } from './snippet-status.ts'

/**
 * Rebuilds the request of an operation from the task and the note in the journal. The service needs this for operations
 * that it did not accept itself since its start. A task or a note of another program version may be unreadable: then the
 * request holds the parts that could be read.
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
