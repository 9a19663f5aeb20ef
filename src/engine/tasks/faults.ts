import { type ExhaustedWhy, FaultError } from '../../base/fault.ts'

export const absent = (what: string): FaultError => new FaultError({ kind: 'absent', what })

export const unavailable = (what: string): FaultError => new FaultError({ kind: 'unavailable', what })

export const exhausted = (resource: string, retryAfterMs: number, why?: ExhaustedWhy): FaultError =>
  new FaultError({ kind: 'exhausted', resource, retryAfterMs, ...(why && { why }) })

/** Wraps any error that is not a FaultError as `unavailable`. */
export const faultError = (error: unknown, what: string): FaultError =>
  error instanceof FaultError ? error : new FaultError({ kind: 'unavailable', what }, error)

/** Shortens a name that a client has chosen, for a message. */
export const shortened = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}…` : name)
