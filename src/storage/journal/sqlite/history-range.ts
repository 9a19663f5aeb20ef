import type { DatabaseSync } from 'node:sqlite'
import type { TaskState } from '../../../model/task-state.ts'
import { keyIn } from '../history-page.ts'
import type { HistoryQuery } from '../journal.ts'
import { STATE_CODES, UNUSUAL, wordOf } from './schema.ts'

/** The most rows that one page reads: about 10 ms without an index. */
const MOST_SCANNED = 10_000

/** The table from which a page reads candidates: an index that fits the query, or all tasks. */
export type Source = 'tasks' | 'words' | 'open' | 'named'

/** The keys that one page reads: from `from` (inclusive) to `before` (exclusive). */
export interface Range {
  readonly source: Source
  /** The entry of the index for the source `words`; for `named`, the names as a JSON list. */
  readonly word: string
  readonly before: number
  readonly from: number
}

export interface Ranges {
  /** Returns the range of the page at a cursor. */
  of(query: HistoryQuery, cursor: string | undefined): Range
  /** Returns the cursor of the page after a range. */
  after(range: Range): string | undefined
}

/**
 * Chooses the keys that a page reads. For tasks, the range is a difference of keys, because skipping 10,000 rows would
 * read them. Below a gap that retention left, the next page begins at the next task.
 */
export function historyRanges(db: Pick<DatabaseSync, 'prepare'>): Ranges {
  const newest = db.prepare('SELECT max(key) AS key FROM tasks WHERE key < ?')
  const mark = db.prepare('SELECT at FROM mark')
  const wordsFrom = db.prepare('SELECT at FROM words_from')
  const skip = `ORDER BY key DESC LIMIT 1 OFFSET ${MOST_SCANNED - 1}`
  const wordFloor = db.prepare(`SELECT key FROM words WHERE word = ? AND key < ? ${skip}`)
  const openFloor = db.prepare(`SELECT key FROM open WHERE key < ? ${skip}`)
  const newestBelow = (key: number): number => Number(newest.get(key)?.key ?? 0)
  const scan = (before: number, least: number): Range => ({
    source: 'tasks',
    word: '',
    before,
    from: Math.max(least, before - MOST_SCANNED, 1),
  })
  return {
    of(query, cursor) {
      const before = cursor === undefined ? newestBelow(Number.MAX_SAFE_INTEGER) + 1 : keyIn(cursor)
      const { operations } = query
      if (operations !== undefined) return { source: 'named', word: JSON.stringify(operations), before, from: 1 }
      if (isOnly(query, isOpen)) {
        const at = Number(mark.get()?.at)
        if (before > at) return scan(before, at)
        return { source: 'open', word: '', before, from: Number(openFloor.get(before)?.key ?? 1) }
      }
      const word = isOnly(query, isUnusual) ? UNUSUAL : query.labels?.[0] && wordOf(query.labels[0])
      const indexedFrom = Number(wordsFrom.get()?.at)
      if (word === undefined || before <= indexedFrom) return scan(before, 1)
      const floor = Number(wordFloor.get(word, before)?.key ?? 0)
      return { source: 'words', word, before, from: Math.max(indexedFrom, floor) }
    },
    after({ from }) {
      const below = newestBelow(from)
      return below === 0 ? undefined : String(below + 1)
    },
  }
}

const isOnly = ({ states, orLeft }: HistoryQuery, fits: (state: TaskState) => boolean): boolean =>
  (states?.every(fits) ?? false) && (orLeft !== true || fits === isUnusual)

const isOpen = (state: TaskState): boolean => STATE_CODES[state] < STATE_CODES.completed
const isUnusual = (state: TaskState): boolean => STATE_CODES[state] > STATE_CODES.completed
