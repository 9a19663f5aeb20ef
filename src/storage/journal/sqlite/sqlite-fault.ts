import { type Fault, FaultError } from '../../../base/fault.ts'

/** SQLite's primary result codes, of those that have something to say to an operator. */
const CODE = { busy: 5, locked: 6, readOnly: 8, io: 10, corrupt: 11, full: 13, tooBig: 18, constraint: 19, notADb: 26 }

const RETRY_AFTER_MS = 5000

/** Returns the primary code of an SQLite error, without the extended bits. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** The facts themselves are what is wrong, and not the place that they go to. */
export const isAboutFacts = (error: unknown): boolean => {
  if (error instanceof FaultError) return error.fault.kind === 'invalid'
  const code = codeOf(error)
  return code === CODE.constraint || code === CODE.tooBig
}

/** What SQLite says, in the words of the house. */
export function faultOf(error: unknown): Fault {
  if (error instanceof FaultError) return error.fault
  const said = error instanceof Error ? error.message : String(error)
  switch (codeOf(error)) {
    case CODE.full:
      return { kind: 'exhausted', resource: 'disk space for the journal', retryAfterMs: RETRY_AFTER_MS, why: 'disk' }
    case CODE.busy:
    case CODE.locked:
      return { kind: 'unavailable', what: `another program holds the journal's database (${said})` }
    case CODE.corrupt:
    case CODE.notADb:
      return {
        kind: 'bug',
        why: 'data-loss',
        what: `the journal's database is damaged (${said}); what can be saved is saved by sqlite3's .recover`,
      }
    case CODE.readOnly:
      return { kind: 'unavailable', what: `the journal's database cannot be written (${said})` }
    case CODE.io:
      return { kind: 'unavailable', what: `the disk failed under the journal (${said})` }
    case CODE.constraint:
    case CODE.tooBig:
      return { kind: 'invalid', what: `these facts cannot be recorded (${said})` }
    default:
      return { kind: 'bug', what: `the journal's database failed (${said})` }
  }
}
