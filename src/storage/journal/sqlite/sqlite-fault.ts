import { type Fault, FaultError } from '../../../base/fault.ts'

/** The primary result codes of SQLite that an operator can act on. */
const CODE = { busy: 5, locked: 6, readOnly: 8, io: 10, corrupt: 11, full: 13, tooBig: 18, constraint: 19, notADb: 26 }

/**
 * SQLITE_IOERR_SHMSIZE: the index of the log cannot grow, which "may indicate that the underlying filesystem volume is
 * out of space" (sqlite.org/rescode.html). A start on a full disk after a clean stop fails with it.
 */
const INDEX_CANNOT_GROW = 4874

const RETRY_AFTER_MS = 5000

/** Returns the primary code of an SQLite error, without the extended bits. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode === INDEX_CANNOT_GROW ? CODE.full : error.errcode & 0xff
}

/** Whether the facts are invalid, as opposed to a failure of the database. */
export const isAboutFacts = (error: unknown): boolean => {
  if (error instanceof FaultError) return error.fault.kind === 'invalid'
  const code = codeOf(error)
  return code === CODE.constraint || code === CODE.tooBig
}

/** Converts an error of SQLite to a fault. */
export function faultOf(error: unknown): Fault {
  if (error instanceof FaultError) return error.fault
  const text = error instanceof Error ? error.message : String(error)
  switch (codeOf(error)) {
    case CODE.full:
      return { kind: 'exhausted', resource: 'disk space for the journal', retryAfterMs: RETRY_AFTER_MS, why: 'disk' }
    case CODE.busy:
    case CODE.locked:
      return { kind: 'unavailable', what: `another program holds the journal's database (${text})` }
    case CODE.corrupt:
    case CODE.notADb:
      return {
        kind: 'bug',
        why: 'data-loss',
        what: `the journal's database is damaged (${text}); what can be saved is saved by sqlite3's .recover`,
      }
    case CODE.readOnly:
      return { kind: 'unavailable', what: `the journal's database cannot be written (${text})` }
    case CODE.io:
      return { kind: 'unavailable', what: `the disk failed under the journal (${text})` }
    case CODE.constraint:
    case CODE.tooBig:
      return { kind: 'invalid', what: `these facts cannot be recorded (${text})` }
    default:
      return { kind: 'bug', what: `the journal's database failed (${text})` }
  }
}
