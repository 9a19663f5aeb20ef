import type { OperationStatus } from '../../engine/tasks/status.ts'
import { recordedRequest } from './recorded-request.ts'
import { type KnownRequest, SNIPPET_ORIGIN, type SnippetView, viewOfSnippet } from './snippet-status.ts'

/**
 * Views of operations. The service holds the request of each operation that it accepted until the operation ends, so that
 * it decodes no task of its own; it makes one view per state change, however many followers there are.
 */
export interface SnippetViews {
  hold(id: string, known: KnownRequest): void
  release(id: string): void
  /** Undefined for an operation that is not a snippet. */
  of(operation: OperationStatus): SnippetView | undefined
}

interface Held {
  readonly known: KnownRequest
  last?: { readonly of: OperationStatus; readonly view: SnippetView }
}

export function snippetViews(): SnippetViews {
  const held = new Map<string, Held>()
  return {
    hold: (id, known) => void held.set(id, { known }),
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
