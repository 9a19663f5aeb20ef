import type { StageCause } from '../../model/command-task.ts'
import type { IsolationLevel } from '../../model/isolation.ts'
import type { SnippetState, Verdict } from '../../model/snippet.ts'

/** Requests and responses of the code API; `docs/guide/code.md` describes each field. */

export interface NewSnippet {
  readonly language: string
  readonly version?: string
  readonly code?: string
  readonly files?: readonly NewSnippetFile[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly stdinEncoding?: TextEncoding
  readonly resourceLimit?: TaskLimits
  readonly compileLimit?: TaskLimits
  readonly network?: boolean
  readonly outputs?: readonly string[]
  readonly expectedOutput?: string
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  readonly callback?: { readonly url: string; readonly secret?: string }
  readonly idempotencyKey?: string
  readonly priority?: number
  readonly group?: string
  readonly cache?: boolean
  readonly isolation?: IsolationLevel
}

export type TextEncoding = 'utf8' | 'base64'

export interface NewSnippetFile {
  readonly name?: string
  readonly content: string
  readonly encoding?: TextEncoding
}

/** Durations as "30s", sizes as "256MB", processors as "1.0". */
export interface TaskLimits {
  readonly timeout?: string
  readonly memory?: string
  readonly cpu?: string
  readonly cpuTime?: string
  readonly processes?: number
  readonly fileSize?: string
  readonly output?: string
  readonly disk?: string
}

export interface SubmittedTask {
  readonly taskId: string
  readonly status: SnippetState
  readonly estimatedTime: string
}

export interface SnippetTaskView {
  readonly taskId: string
  readonly status: SnippetState
  readonly language: string
  readonly version?: string
  readonly result?: SnippetResultView
  readonly verdict?: Verdict
  readonly failure?: { readonly code?: number; readonly message: string }
  readonly timestamps: {
    readonly createdAt: string
    readonly submittedAt?: string
    readonly startedAt?: string
    readonly completedAt?: string
  }
  readonly assignedClient?: string
  readonly attempt: number
  readonly cached: boolean
  readonly artifacts?: readonly { readonly path: string; readonly size: number; readonly sha256?: string }[]
  readonly metadata: Readonly<Record<string, string>>
}

export interface SnippetResultView {
  readonly output: string
  readonly error: string
  readonly exitCode: number
  readonly executionTime: string
  readonly truncated: boolean
  readonly stages: readonly StageView[]
}

export interface StageView {
  readonly name: string
  readonly cause: StageCause
  readonly exitCode: number
  readonly signal?: string
  readonly reason?: string
  readonly output: string
  readonly error: string
  readonly truncated: boolean
  /** Bytes of output above its limit, cut from the middle. */
  readonly dropped?: { readonly output?: DroppedOutput; readonly error?: DroppedOutput }
  readonly executionTime: string
  /** The stage did not run: its result came from an earlier run. */
  readonly cached?: boolean
  readonly cpuTime?: string
  readonly memory?: number
}

export interface DroppedOutput {
  /** The position of the cut in the remaining bytes. */
  readonly at: number
  readonly bytes: number
}

export interface SnippetListQuery {
  readonly status?: readonly SnippetState[]
  readonly language?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly limit?: number
  readonly cursor?: string
}

export interface SnippetListPage {
  readonly tasks: readonly SnippetTaskView[]
  readonly nextCursor?: string
}

export interface LanguageView {
  readonly name: string
  readonly title: string
  readonly aliases: readonly string[]
  readonly versions: readonly string[]
  readonly fileName: string
  readonly compiled: boolean
}

export type TaskEvent =
  | { readonly event: 'state'; readonly task: SnippetTaskView }
  | { readonly event: 'output'; readonly output: OutputFileView }
  | { readonly event: 'end'; readonly task: SnippetTaskView }

export interface OutputFileView {
  readonly stream: 'stdout' | 'stderr'
  readonly attempt: number
  readonly text: string
  /** Dropped bytes before this position. */
  readonly missed: number
}
