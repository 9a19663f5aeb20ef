import type { SnippetStatus } from '../../model/snippet.ts'
import type { SnippetService } from './snippet-service.ts'

/** The callback format of another API. Its callbacks are stored, retried and logged like all others. */
export interface CallbackForm {
  readonly method: 'PUT'
  /** Resolves when the callback can be sent: other snippets may belong to the ended one. */
  ready(status: SnippetStatus, asked: FormSnippets, signal: AbortSignal): Promise<void>
  body(status: SnippetStatus, asked: FormSnippets): Promise<string>
}

export type FormSnippets = Pick<SnippetService, 'languages' | 'find' | 'wait'>

/** Keyed by the name that requests use. */
export type CallbackForms = Readonly<Record<string, CallbackForm>>
