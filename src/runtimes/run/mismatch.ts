import { FaultError } from '../../base/fault.ts'

/** This worker cannot run the command, and another one may: a fault of the grid, which is tried again elsewhere. */
export const mismatch = (what: string): FaultError => new FaultError({ kind: 'unavailable', what })
