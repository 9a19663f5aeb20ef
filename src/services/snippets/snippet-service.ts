import type { OutputListener } from '../../engine/tasks/output-ring.ts'
import type { LanguageOffer } from '../../model/language.ts'
import type { SnippetRequest, SnippetState, SnippetStatus } from '../../model/snippet.ts'
import type { Durability } from '../../storage/journal/fact.ts'
import type { CallScope } from '../instances/call-scope.ts'
import type { CallbackDelivery } from './callbacks/delivery-log.ts'

/**
 * Where every interface to run code comes in: the REST one, those of other runners that we speak, WebSockets. A refusal is
 * a FaultError: `invalid` for the caller's words, `unavailable` when no live worker has the language, `exhausted` when the
 * queue or a quota is full; where interfaces have a word of their own for it, a SnippetRefusal.
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
    wish: { readonly language: string; readonly version?: string | undefined },
    signal?: AbortSignal,
  ): Promise<void>
  /** Throws `unavailable` once the server takes no new tasks. */
  mustBeOpen(): void
  /** Resolves when it is on record in this word (`power` unless said), or was already under its key. */
  submit(scope: CallScope, request: SnippetRequest, durability?: Durability): Promise<SnippetStatus>
  /**
   * Submits a task, and resolves with its status when it has ended or the time is up. The caller gets no
   * acknowledgement before that, so that acceptance and end are persisted together.
   */
  run(scope: CallScope, request: SnippetRequest, limit: WaitLimit): Promise<SnippetStatus>
  /** The same once more, under a new name and without its key; undefined when nothing has that name. */
  rerun(scope: CallScope, id: string): Promise<SnippetStatus | undefined>
  find(scope: CallScope, id: string): Promise<SnippetStatus | undefined>
  /** First how it stands, then each change; last comes the end. The answer ends it. */
  watch(scope: CallScope, id: string, watcher: SnippetWatcher): () => void
  /** Resolves with how it stands when it is over, or when the time is up. */
  wait(scope: CallScope, id: string, limit: WaitLimit): Promise<SnippetStatus>
  cancel(scope: CallScope, id: string): Promise<void>
  list(scope: CallScope, query: SnippetQuery, cursor?: string): Promise<SnippetPage>
  /** In words, what it waits for, or what came of it. */
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
  told(status: SnippetStatus): void
  failed(error: Error): void
}

export interface SnippetQuery {
  readonly states: readonly SnippetState[] | undefined
  readonly language: string | undefined
  /** All of these must be in its metadata. */
  readonly metadata: Readonly<Record<string, string>>
  readonly limit: number | undefined
}

/** A page may be short, or even empty, and still have one that follows. */
export interface SnippetPage {
  readonly snippets: readonly SnippetStatus[]
  readonly next: string | undefined
}
