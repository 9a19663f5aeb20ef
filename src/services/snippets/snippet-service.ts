import type { OutputListener } from '../../engine/tasks/output-ring.ts'
import type { LanguageOffer } from '../../model/language.ts'
import type { SnippetRequest, SnippetState, SnippetStatus } from '../../model/snippet.ts'
import type { Durability } from '../../storage/journal/fact.ts'
import type { CallScope } from '../instances/call-scope.ts'
import type { CallbackDelivery } from './callbacks/delivery-log.ts'

/**
 * Runs code for every API: REST, the protocols of other runners, WebSockets. A refusal is a FaultError: `invalid` for a
 * wrong request, `unavailable` when no live worker has the language, `exhausted` when the queue or a quota is full. A
 * SnippetRefusal is a refusal for which APIs have their own code.
 */
export interface SnippetService {
  /** The languages that live workers offer, by name. */
  languages(): readonly LanguageOffer[]
  /** Whether a worker that is connected, or about to be, is still testing this language, by name or alias. */
  isAwaited(language: string): boolean
  /** Names of all such languages. */
  awaited(): readonly string[]
  /** Waits within the grace time until the language is offered in this version, or no worker tests it any more. */
  settled(
    wanted: { readonly language: string; readonly version?: string | undefined },
    signal?: AbortSignal,
  ): Promise<void>
  /** Throws `unavailable` when the server accepts no new tasks. */
  mustBeOpen(): void
  /** Resolves when the task has this durability (`power` by default), or already existed under its key. */
  submit(scope: CallScope, request: SnippetRequest, durability?: Durability): Promise<SnippetStatus>
  /**
   * Submits a task, and resolves with its status when it has ended or the time is up. The caller gets no
   * acknowledgement before that, so that acceptance and end are persisted together.
   */
  run(scope: CallScope, request: SnippetRequest, limit: WaitLimit): Promise<SnippetStatus>
  /** Runs the same request again, under a new name and without its key; undefined when there is no such task. */
  rerun(scope: CallScope, id: string): Promise<SnippetStatus | undefined>
  find(scope: CallScope, id: string): Promise<SnippetStatus | undefined>
  /** Returns a function that ends the watch. */
  watch(scope: CallScope, id: string, watcher: SnippetWatcher): () => void
  /** Resolves with the status when the task has ended or the time is up. */
  wait(scope: CallScope, id: string, limit: WaitLimit): Promise<SnippetStatus>
  cancel(scope: CallScope, id: string): Promise<void>
  list(scope: CallScope, query: SnippetQuery, cursor?: string): Promise<SnippetPage>
  /** Explains why the task waits, or how it ended. */
  why(scope: CallScope, id: string): Promise<readonly string[]>
  /** Live output; undefined when the task does not run. */
  listenOutput(scope: CallScope, id: string, wake: () => void): OutputListener | undefined
  /** The delivery of its callback; undefined when it has none, or the record was removed. */
  delivery(scope: CallScope, id: string): CallbackDelivery | undefined
  /** Estimated run time in milliseconds from earlier runs; undefined without one. */
  estimateMs(request: Pick<SnippetRequest, 'language' | 'files'>): number | undefined
}

export interface WaitLimit {
  readonly ms: number
  readonly signal: AbortSignal
}

export interface SnippetWatcher {
  /** Called first with the current status, then at each change; last with the end. */
  changed(status: SnippetStatus): void
  failed(error: Error): void
}

export interface SnippetQuery {
  readonly states: readonly SnippetState[] | undefined
  readonly language: string | undefined
  /** The task's metadata must contain all of these. */
  readonly metadata: Readonly<Record<string, string>>
  readonly limit: number | undefined
}

/** A page may be short or empty although another page follows. */
export interface SnippetPage {
  readonly snippets: readonly SnippetStatus[]
  readonly next: string | undefined
}
