import { FaultError } from '../../base/fault.ts'

/** Errors that the client's paths cause. They occur on every worker. */
const CALLERS: ReadonlySet<string> = new Set([
  'ENAMETOOLONG',
  'EEXIST',
  'ENOTDIR',
  'ELOOP',
  'EISDIR',
  'EILSEQ',
  'EINVAL',
])
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])
const RETRY_MS = 10_000

/** Converts an error of a file system call to the fault of the attempt; faults and aborts are returned unchanged. */
export function diskFault(error: unknown, what: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (error instanceof FaultError || typeof code !== 'string') return error
  if (CALLERS.has(code)) return new FaultError({ kind: 'invalid', what: `${what}: ${code}` }, error)
  if (FULL.has(code))
    return new FaultError({ kind: 'exhausted', resource: "the worker's disk", retryAfterMs: RETRY_MS }, error)
  return new FaultError({ kind: 'unavailable', what: `${what}: ${code}` }, error)
}
