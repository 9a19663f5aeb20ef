import { z } from 'zod'
import { invalid } from '../../base/fault.ts'
import type { Limits } from '../../model/command.ts'
import { ISOLATION_LEVELS } from '../../model/isolation.ts'
import type { SnippetRequest } from '../../model/snippet.ts'

/**
 * The part of a request that the journal keeps beside the task: fields that the task lacks, or has in another form. One
 * byte for the version of this format, then JSON without default values. Notes outlive program versions: an unreadable
 * note is undefined, and the caller uses the task alone.
 */
export interface SnippetNote {
  readonly language: string
  /** As it was asked for, and as it was chosen. */
  readonly wanted: string | undefined
  readonly version: string | undefined
  /** The first files of the task are these, in this order. */
  readonly files: readonly string[]
  readonly args: readonly string[]
  readonly env: readonly (readonly [string, string])[]
  readonly compileLimits: Limits
  readonly runLimits: Limits
  /** Left out when it is long; its hash is there whenever something was expected. */
  readonly expected: string | undefined
  readonly expectedHash: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly callback: SnippetRequest['callback']
  readonly key: string | undefined
  /** Hash of the whole request: tells it from another request under the same key. */
  readonly request: string | undefined
  readonly priority: number | undefined
  readonly invocation: string | undefined
  readonly isolation: SnippetRequest['isolation']
  readonly interactive: SnippetRequest['interactive']
}

const VERSION = 1
/** The engine's own limit is a little higher. */
const MOST_BYTES = 60 * 1024

export function noteToBytes(note: SnippetNote): Uint8Array {
  const said = Object.entries(note).filter(([, value]) => !isUsual(value))
  const bytes = Buffer.concat([Buffer.of(VERSION), Buffer.from(JSON.stringify(Object.fromEntries(said)))])
  if (bytes.length > MOST_BYTES)
    throw invalid(`arguments, environment and metadata take more than ${MOST_BYTES} bytes together`, 'range')
  return bytes
}

const isUsual = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

export function noteFromBytes(bytes: Uint8Array | undefined): SnippetNote | undefined {
  if (bytes?.[0] !== VERSION || bytes.length > MOST_BYTES) return undefined
  try {
    const parsed = FORM.safeParse(JSON.parse(Buffer.from(bytes.subarray(1)).toString()))
    return parsed.success ? { ...NOTHING, ...withoutUndefined(parsed.data) } : undefined
  } catch {
    return undefined
  }
}

const withoutUndefined = <T extends object>(from: T): { [Key in keyof T]: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as never

const NOTHING = {
  wanted: undefined,
  version: undefined,
  args: [],
  env: [],
  compileLimits: {},
  runLimits: {},
  expected: undefined,
  expectedHash: undefined,
  metadata: {},
  callback: undefined,
  key: undefined,
  request: undefined,
  priority: undefined,
  invocation: undefined,
  isolation: undefined,
  interactive: undefined,
} as const satisfies Omit<SnippetNote, 'language' | 'files'>

const amount = z.number().positive().optional()
const limits = z
  .object({
    wallMs: amount,
    cpuMs: amount,
    memoryBytes: amount,
    pids: amount,
    fileBytes: amount,
    outputBytes: amount,
    openFiles: amount,
    diskBytes: amount,
    outputFloodBytes: amount,
    cpus: amount,
  })
  .transform(withoutUndefined)
const size = z.number().int().positive()

const FORM = z.object({
  language: z.string(),
  wanted: z.string().optional(),
  version: z.string().optional(),
  files: z.array(z.string()),
  args: z.array(z.string()).optional(),
  env: z.array(z.tuple([z.string(), z.string()])).optional(),
  compileLimits: limits.optional(),
  runLimits: limits.optional(),
  expected: z.string().optional(),
  expectedHash: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  callback: z
    .object({ url: z.string(), secret: z.string().optional(), form: z.string().optional() })
    .transform(({ url, secret, form }) => ({ url, secret, ...(form !== undefined && { form }) }))
    .optional(),
  key: z.string().optional(),
  request: z.string().optional(),
  priority: z.number().optional(),
  invocation: z.string().optional(),
  isolation: z.enum(ISOLATION_LEVELS).optional(),
  interactive: z
    .object({ pty: z.object({ rows: size, columns: size }).optional() })
    .transform(({ pty }) => ({ pty }))
    .optional(),
})
