import { type ExhaustedWhy, FaultError } from '../../base/fault.ts'

export const absent = (what: string): FaultError => new FaultError({ kind: 'absent', what })

export const unavailable = (what: string): FaultError => new FaultError({ kind: 'unavailable', what })

export const exhausted = (resource: string, retryAfterMs: number, why?: ExhaustedWhy): FaultError =>
  new FaultError({ kind: 'exhausted', resource, retryAfterMs, ...(why && { why }) })

/** As a fault of ours, whatever was thrown. */
export const faultError = (error: unknown, what: string): FaultError =>
  error instanceof FaultError ? error : new FaultError({ kind: 'unavailable', what }, error)

/** Names come from clients, and end up in messages. */
export const shortened = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}…` : name)
