import { type InstanceName, instanceNameProblem } from '../../model/instance-name.ts'

/** The name of an operation in requests and responses: `[instance/]operations/id`. */
export interface OperationName {
  readonly instance: InstanceName
  readonly id: string
}

export const OPERATIONS_SEGMENT = 'operations'

export const formatOperationName = ({ instance, id }: OperationName): string =>
  instance === '' ? `${OPERATIONS_SEGMENT}/${id}` : `${instance}/${OPERATIONS_SEGMENT}/${id}`

/** Undefined for a text that is not the name of an operation. */
export function parseOperationName(name: string): OperationName | undefined {
  const segments = name.split('/')
  const id = segments.pop() ?? ''
  if (id === '' || segments.pop() !== OPERATIONS_SEGMENT) return undefined
  const instance = segments.join('/')
  return instanceNameProblem(instance) === undefined ? { instance, id } : undefined
}

/**
 * The ByteStream name of a log: `[parent/]logstreams/id` for reading, followed by `/token` for writing. The parent is
 * an instance, or an operation, whose logs are `stdout` and `stderr`. The Go SDK prepends `[instance/]logstreams/` to
 * every name, so the name without that prefix is accepted too.
 */
export interface LogName {
  /** The possible parents: the one in the name and, second, the one without the prefix of the Go SDK. */
  readonly parents: readonly string[]
  readonly id: string
  /** Set in names for writing. */
  readonly token: string | undefined
}

const LOGS = 'logstreams'
/** An instance may be called `logstreams`, so a name with one of these segments is the name of a blob. */
const BLOB_SEGMENTS: ReadonlySet<string> = new Set(['blobs', 'compressed-blobs', 'uploads'])

/** Undefined for a text that is not the name of a log. */
export function parseLogName(name: string): LogName | undefined {
  if (!name.includes(LOGS)) return undefined
  const segments = name.split('/')
  if (segments.some((segment) => BLOB_SEGMENTS.has(segment))) return undefined
  const at = segments.lastIndexOf(LOGS)
  const [id, token, ...more] = segments.slice(at + 1)
  if (at < 0 || id === undefined || id === '' || token === '' || more.length > 0) return undefined
  return { parents: parentsOf(segments.slice(0, at)), id, token }
}

function parentsOf(segments: readonly string[]): string[] {
  const parent = segments.join('/')
  const at = segments.indexOf(LOGS)
  const instance = segments.slice(0, Math.max(0, at)).join('/')
  const rest = segments.slice(at + 1).join('/')
  const isPrefixed = at >= 0 && (instance === '' || rest === instance || rest.startsWith(`${instance}/`))
  return isPrefixed ? [parent, rest] : [parent]
}

export const formatLogName = (parent: string, id: string, token?: string): string =>
  `${parent === '' ? '' : `${parent}/`}${LOGS}/${id}${token === undefined ? '' : `/${token}`}`

/** The names under which clients can follow the output of the operation with this full name. */
export const operationLogNames = (operation: string): { readonly stdout: string; readonly stderr: string } => ({
  stdout: formatLogName(operation, 'stdout'),
  stderr: formatLogName(operation, 'stderr'),
})
