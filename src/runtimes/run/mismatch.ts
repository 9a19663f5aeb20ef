import { FaultError } from '../../base/fault.ts'

/** This worker cannot run the command but another one may: a retryable error. */
export const mismatch = (what: string): FaultError => new FaultError({ kind: 'unavailable', what })
