import type { EnvVariable, Limits } from './command.ts'
import type { CommandResult } from './command-task.ts'
import type { InstanceName } from './instance-name.ts'
import type { IsolationLevel } from './isolation.ts'

/** A snippet to run, independent of the interface. Undefined fields get the default of the language or of the grid. */
export interface SnippetRequest {
  readonly instance: InstanceName
  /** A name or an alias. */
  readonly language: string
  /** A version, the beginning of one, or a range of them as npm writes it; undefined for the newest. */
  readonly version: string | undefined
  /** At least one: the first is the one that is run. */
  readonly files: readonly SnippetFile[]
  readonly args: readonly string[]
  readonly env: readonly EnvVariable[]
  readonly stdin: Uint8Array | undefined
  readonly compileLimits: Limits
  readonly runLimits: Limits
  readonly network: boolean
  /** Patterns of files to keep; see CommandTaskOutputs. */
  readonly outputs: readonly string[]
  /** The expected output: when given, the result has a verdict. */
  readonly expected: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly callback: SnippetCallback | undefined
  /** Two requests of an instance with the same key are one. */
  readonly idempotencyKey: string | undefined
  readonly priority: number | undefined
  /** The user that it belongs to, for fair shares within its instance. */
  readonly invocation: string | undefined
  /** A result of the same code under the same limits may come from the cache. */
  readonly cacheable: boolean
  readonly isolation: IsolationLevel | undefined
  /** Interactive: input arrives while it runs. */
  readonly interactive: SnippetTerminal | undefined
}

export interface SnippetFile {
  /** Relative to the working directory, with slashes. */
  readonly name: string
  readonly contents: Uint8Array
}

export interface SnippetCallback {
  readonly url: string
  /** The key that signs deliveries. */
  readonly secret: string | undefined
  /** The format of deliveries, when it is not our own. */
  readonly form?: string | undefined
}

export interface SnippetTerminal {
  /** With a terminal of this size; undefined for plain pipes. */
  readonly pty: { readonly rows: number; readonly columns: number } | undefined
}

/** As clients see them, in lower case on every wire. */
export const SNIPPET_STATES = [
  'pending',
  'submitted',
  'executing',
  'retrying',
  'completed',
  'failed',
  'timeout',
  'cancelled',
] as const
export type SnippetState = (typeof SNIPPET_STATES)[number]

/** Whether what it printed is what was expected. */
export const VERDICTS = [
  'accepted',
  'wrong-answer',
  'compile-error',
  'runtime-error',
  'time-limit',
  'memory-limit',
  'output-limit',
  'internal-error',
] as const
export type Verdict = (typeof VERDICTS)[number]

/** How a snippet stands, for an interface to put into its own words. Times are milliseconds since 1970. */
export interface SnippetStatus {
  readonly id: string
  readonly request: SnippetRequest
  /** The selected version; undefined when workers offer none. */
  readonly version: string | undefined
  readonly state: SnippetState
  /** How often it was started. */
  readonly attempt: number
  readonly worker: string | undefined
  readonly createdAt: number
  readonly submittedAt: number
  readonly startedAt: number | undefined
  readonly completedAt: number | undefined
  /** For a finished snippet that ran. */
  readonly result: CommandResult | undefined
  readonly verdict: Verdict | undefined
  /** For a finished snippet, the reason as text. */
  readonly what: string | undefined
  /** It failed because no suitable worker connected in time. */
  readonly noWorker?: boolean
  readonly cached: boolean
}

export const isOver = ({ state }: Pick<SnippetStatus, 'state'>): boolean =>
  state === 'completed' || state === 'failed' || state === 'timeout' || state === 'cancelled'

/** The required fields of a snippet; all others have defaults. */
export type SnippetSpec = Pick<SnippetRequest, 'language' | 'files'> & Partial<SnippetRequest>

/** Nothing is granted that is not asked for. */
export const snippetOf = (spec: SnippetSpec): SnippetRequest => ({
  instance: '',
  version: undefined,
  args: [],
  env: [],
  stdin: undefined,
  compileLimits: {},
  runLimits: {},
  network: false,
  outputs: [],
  expected: undefined,
  metadata: {},
  callback: undefined,
  idempotencyKey: undefined,
  priority: undefined,
  invocation: undefined,
  cacheable: false,
  isolation: undefined,
  interactive: undefined,
  ...spec,
})
