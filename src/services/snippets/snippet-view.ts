import type { DigestFunction } from '../../base/digest.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import { type CommandResult, hasSucceeded } from '../../model/command-task.ts'
import type { SnippetState, SnippetStatus } from '../../model/snippet.ts'
import type { TaskState } from '../../model/task-state.ts'
import { commandResultFromProto } from '../../wire/tasks/command-task-result.ts'
import { recordedRequest } from './recorded-request.ts'
import type { KnownRequest, SnippetNote } from './snippet-note.ts'

export const SNIPPET_ORIGIN = 'snippet'

/** The status that clients see, and the parts of the note that they do not see. */
export interface SnippetView {
  readonly status: SnippetStatus
  readonly note: SnippetNote | undefined
}

/**
 * Views of operations. The service holds the requests of the newest `MOST_HELD` operations that it accepted until they
 * end, so that it seldom decodes its own tasks. An older operation in a long queue is decoded again, because a request
 * takes 2 KB. One view is made per state change, for all watchers together.
 */
export interface SnippetViews {
  hold(id: string, known: KnownRequest): void
  release(id: string): void
  /** Undefined for an operation that is not a snippet. */
  of(operation: OperationStatus): SnippetView | undefined
}

/** More operations than are usually open; their requests take at most 2 MB. */
const MOST_HELD = 1000

interface Held {
  readonly known: KnownRequest
  last?: { readonly of: OperationStatus; readonly view: SnippetView }
}

export function snippetViews(): SnippetViews {
  const held = new Map<string, Held>()
  return {
    hold(id, known) {
      held.set(id, { known })
      if (held.size <= MOST_HELD) return
      const [oldest] = held.keys()
      if (oldest !== undefined) held.delete(oldest)
    },
    release: (id) => void held.delete(id),
    of(operation) {
      if (operation.origin !== SNIPPET_ORIGIN) return undefined
      const one = held.get(operation.operation)
      if (one === undefined) return viewOfSnippet(operation, recordedRequest(operation))
      if (one.last === undefined || !isSameState(one.last.of, operation))
        one.last = { of: operation, view: viewOfSnippet(operation, one.known) }
      return one.last.view
    },
  }
}

const isSameState = (one: OperationStatus, other: OperationStatus): boolean =>
  one.state === other.state &&
  one.starts === other.starts &&
  one.worker === other.worker &&
  one.queuedAt === other.queuedAt &&
  one.startedAt === other.startedAt &&
  one.end?.at === other.end?.at &&
  one.end?.result === other.end?.result

/**
 * The view of an operation. It has no verdict yet: that may need blobs from the store. A result that cannot be read is
 * left out: it may come from another version of this program, or from a worker of unknown origin.
 */
function viewOfSnippet(operation: OperationStatus, { request, note, fn }: KnownRequest): SnippetView {
  const { end } = operation
  const result = resultOf(operation, fn)
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
    what: end && (result && end.state !== 'cancelled' ? endText(result) : end.what),
    ...(end?.why === 'no-worker' && { noWorker: true }),
    cached: end?.cached ?? false,
  }
  return { status, note }
}

function resultOf({ end }: OperationStatus, fn: DigestFunction): CommandResult | undefined {
  if (end?.result === undefined) return undefined
  try {
    return commandResultFromProto(end.result, fn)
  } catch {
    return undefined
  }
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

/** A task whose program ran is completed for the grid. For its author it failed or timed out. */
function stateOf(state: TaskState, result: CommandResult | undefined): SnippetState {
  if (state !== 'completed' || result === undefined || hasSucceeded(result)) return STATES[state]
  const cause = result.stages.at(-1)?.cause
  return cause === 'timeout' || cause === 'cpu-time' ? 'timeout' : 'failed'
}

/** The task states in which a snippet can have one of these states. */
export const taskStatesFor = (states: readonly SnippetState[]): TaskState[] =>
  (Object.keys(STATES) as TaskState[]).filter(
    (state) =>
      states.includes(STATES[state]) ||
      (state === 'completed' && (states.includes('failed') || states.includes('timeout'))),
  )

function endText({ stages, outputs }: CommandResult): string {
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
