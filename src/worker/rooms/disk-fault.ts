import { FaultError } from '../../base/fault.ts'

/** What the caller's own words have brought about, and no other worker could do better. */
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
const COME_BACK_MS = 10_000

/** What a failing call to the file system means for the one whose attempt it was; faults and aborts pass through. */
export function diskFault(error: unknown, what: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (error instanceof FaultError || typeof code !== 'string') return error
  if (CALLERS.has(code)) return new FaultError({ kind: 'invalid', what: `${what}: ${code}` }, error)
  if (FULL.has(code))
    return new FaultError({ kind: 'exhausted', resource: "the worker's disk", retryAfterMs: COME_BACK_MS }, error)
  return new FaultError({ kind: 'unavailable', what: `${what}: ${code}` }, error)
}
