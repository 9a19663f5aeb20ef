import type { SnippetStatus } from '../../model/snippet.ts'
import type { SnippetService } from './snippet-service.ts'

/** How an end is told in the words of another interface. Its callbacks are kept, tried and logged like all others. */
export interface CallbackForm {
  readonly method: 'PUT'
  /** Resolves when there is something to tell: the snippet is over, but others may belong to it. */
  ready(status: SnippetStatus, asked: FormSnippets, signal: AbortSignal): Promise<void>
  body(status: SnippetStatus, asked: FormSnippets): Promise<string>
}

export type FormSnippets = Pick<SnippetService, 'languages' | 'find' | 'wait'>

/** By the name that requests have them under. */
export type CallbackForms = Readonly<Record<string, CallbackForm>>
