import { invalid } from '../../base/fault.ts'
import type { HistoryQuery, TaskRecord } from './journal.ts'

const MOST_LISTED = 1000
const USUALLY_LISTED = 100

/**
 * A page holds at most this many bytes of whole records, or one record: results may be large, and a page is in memory
 * at once.
 */
export const MOST_PAGE_BYTES = 4 * 1024 * 1024

export const bytesOf = ({ spec, result }: TaskRecord): number => spec.length + (result?.length ?? 0)

/** How many tasks a page may have. */
export const pageSize = ({ limit = USUALLY_LISTED }: HistoryQuery): number =>
  Number.isInteger(limit) && limit > 0 ? Math.min(limit, MOST_LISTED) : USUALLY_LISTED

/** Cursors come back from clients: anything but a number that we may have given is refused. */
export function keyIn(cursor: string): number {
  if (!/^[1-9]\d{0,14}$/.test(cursor)) throw invalid('the cursor is not one that a list was answered with')
  return Number(cursor)
}
