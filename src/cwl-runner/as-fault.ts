import { FaultError } from '../base/fault.ts'

/** A disk that is full or a file that may not be read is no mistake of ours; it ends the step, and says so. */
export function asFault(cause: unknown): unknown {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined
  if (cause instanceof FaultError || code === undefined || !/^E[A-Z0-9_]+$/.test(code)) return cause
  return new FaultError({ kind: 'unavailable', what: (cause as Error).message }, cause)
}
