import { FaultError } from '../base/fault.ts'

/** A full disk or an unreadable file is not a bug: it becomes an error that ends the step. */
export function asFault(cause: unknown): unknown {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined
  if (cause instanceof FaultError || code === undefined || !/^E[A-Z0-9_]+$/.test(code)) return cause
  return new FaultError({ kind: 'unavailable', what: (cause as Error).message }, cause)
}
