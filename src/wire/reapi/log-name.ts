import { formatOperationName, type OperationName } from '../google/operations.ts'

/**
 * The names that ByteStream knows logs by: `[parent/]logstreams/id` to read and, with a token behind it, to write. The
 * parent is an instance, or an operation, whose logs are `stdout` and `stderr`. The Go SDK puts `[instance/]logstreams/`
 * before whatever name it was told, so that is read as if it were not there.
 */
export interface LogName {
  /** What may be meant: the first as it stands, the second without what the Go SDK puts before it. */
  readonly parents: readonly string[]
  readonly id: string
  /** Set in names for writing. */
  readonly token: string | undefined
}

const COLLECTION = 'logstreams'
/** An instance may be called logstreams; but none of these may be, and no log has them in its name. */
const OF_BLOBS: ReadonlySet<string> = new Set(['blobs', 'compressed-blobs', 'uploads'])

/** Undefined when it is not the name of a log. */
export function parseLogName(name: string): LogName | undefined {
  if (!name.includes(COLLECTION)) return undefined
  const segments = name.split('/')
  if (segments.some((segment) => OF_BLOBS.has(segment))) return undefined
  const at = segments.lastIndexOf(COLLECTION)
  const [id, token, ...more] = segments.slice(at + 1)
  if (at < 0 || id === undefined || id === '' || token === '' || more.length > 0) return undefined
  return { parents: parentsOf(segments.slice(0, at)), id, token }
}

function parentsOf(segments: readonly string[]): string[] {
  const parent = segments.join('/')
  const at = segments.indexOf(COLLECTION)
  const instance = segments.slice(0, Math.max(0, at)).join('/')
  const rest = segments.slice(at + 1).join('/')
  const isRepeated = at >= 0 && (instance === '' || rest === instance || rest.startsWith(`${instance}/`))
  return isRepeated ? [parent, rest] : [parent]
}

export const formatLogName = (parent: string, id: string, token?: string): string =>
  `${parent === '' ? '' : `${parent}/`}${COLLECTION}/${id}${token === undefined ? '' : `/${token}`}`

/** Where what an operation prints can be followed. */
export function operationLogNames(operation: OperationName): { readonly stdout: string; readonly stderr: string } {
  const parent = formatOperationName(operation)
  return { stdout: formatLogName(parent, 'stdout'), stderr: formatLogName(parent, 'stderr') }
}
