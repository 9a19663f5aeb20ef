import { invalid } from '../../base/fault.ts'
import type { HistoryQuery, TaskRecord } from './journal.ts'

const MOST_LISTED = 1000
const USUALLY_LISTED = 100

/**
 * The most bytes of whole records on a page, unless one record is larger: results may be large, and a page is in memory
 * at once.
 */
export const MOST_PAGE_BYTES = 4 * 1024 * 1024

export const bytesOf = ({ spec, result }: TaskRecord): number => spec.length + (result?.length ?? 0)

/** The most tasks on a page. */
export const pageSize = ({ limit = USUALLY_LISTED }: HistoryQuery): number =>
  Number.isInteger(limit) && limit > 0 ? Math.min(limit, MOST_LISTED) : USUALLY_LISTED

/** Clients return cursors, so anything but a number that a list may have returned is refused. */
export function keyIn(cursor: string): number {
  if (!/^[1-9]\d{0,14}$/.test(cursor)) throw invalid('the cursor is not one that a list was answered with')
  return Number(cursor)
}
