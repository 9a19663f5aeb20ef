import type { OperationStatus } from '../../engine/status.ts'
import type { InlineFile } from '../../model/command.ts'
import { type CommandResult, type CommandTask, hasSucceeded } from '../../model/command-task.ts'
import { LANGUAGE_PROPERTY } from '../../model/language.ts'
import { type SnippetRequest, type SnippetState, type SnippetStatus, snippetOf } from '../../model/snippet.ts'
import type { TaskState } from '../../model/task-state.ts'
import { commandTaskFromProto } from '../../wire/tasks/command-task.ts'
import { commandResultFromProto } from '../../wire/tasks/command-task-result.ts'
import { noteFromBytes, type SnippetNote } from './snippet-note.ts'

export const SNIPPET_ORIGIN = 'snippet'

/** As it is to the desk: what clients may know, and what came along that they do not see. */
export interface SnippetView {
  readonly status: SnippetStatus
  readonly note: SnippetNote | undefined
}

/**
 * An operation as its client knows it; undefined when it is no snippet. The verdict is not in it, for that may need what
 * lies in the store. A task, a note or a result that cannot be read is told as far as it can be: they come from other
 * versions of this program, and from workers that may be anybody's.
 */
export function viewOfSnippet(operation: OperationStatus): SnippetView | undefined {
  if (operation.origin !== SNIPPET_ORIGIN) return undefined
  const { end } = operation
  const { task, note, request } = askedFor(operation)
  const result = resultOf(operation, task)
  const status: SnippetStatus = {
    id: operation.operation,
    request,
    version: note?.version,
    state: stateOf(operation.state, result),
    attempt: operation.starts,
    worker: operation.worker,
    createdAt: operation.joinedAt,
    submittedAt: Math.max(operation.joinedAt, operation.queuedAt),
    startedAt: operation.startedAt,
    completedAt: end?.at,
    result,
    verdict: undefined,
    what: end && (result && end.state !== 'cancelled' ? wordsFor(result) : end.what),
    ...(end?.why === 'no-worker' && { noWorker: true }),
    cached: end?.cached ?? false,
  }
  return { status, note }
}

const STATES = {
  pending: 'pending',
  queued: 'submitted',
  assigned: 'submitted',
  running: 'executing',
  stopping: 'executing',
  retrying: 'retrying',
  completed: 'completed',
  failed: 'failed',
  timeout: 'timeout',
  cancelled: 'cancelled',
} as const satisfies Record<TaskState, SnippetState>

/** To the grid a program that ran is completed; to who wrote it, it failed or took too long. */
function stateOf(state: TaskState, result: CommandResult | undefined): SnippetState {
  if (state !== 'completed' || result === undefined || hasSucceeded(result)) return STATES[state]
  const cause = result.stages.at(-1)?.cause
  return cause === 'timeout' || cause === 'cpu-time' ? 'timeout' : 'failed'
}

/** Which states of the grid may stand for one of a client's. */
export const taskStatesFor = (states: readonly SnippetState[]): TaskState[] =>
  (Object.keys(STATES) as TaskState[]).filter(
    (state) =>
      states.includes(STATES[state]) ||
      (state === 'completed' && (states.includes('failed') || states.includes('timeout'))),
  )

function wordsFor({ stages, outputs }: CommandResult): string {
  const last = stages.at(-1)
  if (last === undefined) return 'nothing was run'
  if (last.cause === 'ok') return outputs.problem ?? 'it exited with 0'
  const how =
    last.cause === 'exit'
      ? `exited with ${last.exitCode}`
      : last.cause === 'signal'
        ? `was ended by ${last.signal ?? 'a signal'}`
        : `ended by ${last.cause}`
  return `${last.name} ${how}${last.reason === undefined ? '' : `: ${last.reason}`}`
}

interface AskedFor {
  readonly task: CommandTask | undefined
  readonly note: SnippetNote | undefined
  readonly request: SnippetRequest
}

function askedFor({ spec, note: noteBytes, instance }: OperationStatus): AskedFor {
  const task = taskIn(spec)
  const note = noteFromBytes(noteBytes)
  return { task, note, request: requestOf({ task, note, instance }) }
}

function taskIn(spec: Uint8Array): CommandTask | undefined {
  try {
    return commandTaskFromProto(spec)
  } catch {
    return undefined
  }
}

function resultOf({ end }: OperationStatus, task: CommandTask | undefined): CommandResult | undefined {
  if (end?.result === undefined) return undefined
  try {
    return commandResultFromProto(end.result, task?.fn ?? 'sha256')
  } catch {
    return undefined
  }
}

type Parts = Pick<AskedFor, 'task' | 'note'> & Pick<SnippetRequest, 'instance'>

function requestOf({ task, note, instance }: Parts): SnippetRequest {
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
