import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { MOST_PAGE_BYTES, pageSize } from '../history-page.ts'
import type { HistoryPage, HistoryQuery, TaskRecord } from '../journal.ts'
import { historyRanges, type Range, type Source } from './history-range.ts'
import { recordReader } from './record-reader.ts'
import { STATE_CODES, wordOf } from './schema.ts'
import {
  bytesIn,
  keyOf,
  type Row,
  rowsOf,
  STATE,
  SUMMARY_COLUMNS,
  summaryOf,
  TASKS,
  WHOLE_COLUMNS,
} from './task-row.ts'

/** The queries about tasks, over one connection, which may be read-only. */
export interface History {
  find(operation: string): TaskRecord | undefined
  list(query: HistoryQuery, cursor: string | undefined): HistoryPage
}

/** CROSS JOIN keeps SQLite from reading the tasks first. */
const CANDIDATES = {
  tasks: `${TASKS} WHERE :word = ''`,
  words: `words CROSS JOIN ${TASKS} WHERE tasks.key = words.key AND words.word = :word`,
  open: `open CROSS JOIN ${TASKS} WHERE tasks.key = open.key AND :word = ''`,
  named: `json_each(:word) AS named CROSS JOIN ${TASKS} WHERE operation = named.value`,
} as const satisfies Record<Source, string>

/** The column by which the index of the source is ordered. */
const keyIn = { tasks: 'tasks.key', words: 'words.key', open: 'open.key', named: 'tasks.key' } as const

/** The SQL of a page with these columns. */
const pageSql = (columns: string, source: Source): string =>
  `SELECT ${columns} FROM ${CANDIDATES[source]}
     AND ${keyIn[source]} < :before AND ${keyIn[source]} >= :from
     AND (:instance IS NULL OR instance = :instance)
     AND (:invocation IS NULL OR invocation = :invocation)
     AND (:origin IS NULL OR origin = :origin)
     AND ((1 << ${STATE}) & :states OR :orLeft AND (operation_left_at IS NOT NULL OR EXISTS (
       SELECT 1 FROM operations WHERE task_key = tasks.key AND left_at IS NOT NULL)))
     AND (:name IS NULL OR instr(operation, :name) OR EXISTS (
       SELECT 1 FROM operations WHERE task_key = tasks.key AND instr(operations.name, :name)))
     AND (:labels IS NULL OR tasks.key < (SELECT at FROM words_from) OR NOT EXISTS (
       SELECT 1 FROM json_each(:labels) AS label
       WHERE NOT EXISTS (SELECT 1 FROM words AS w WHERE w.word = label.value AND w.key = tasks.key)))
     AND accepted_at >= :acceptedFrom AND accepted_at < :acceptedBefore
   ORDER BY ${keyIn[source]} DESC LIMIT :limit`

const pagesOf = (db: Pick<DatabaseSync, 'prepare'>, columns: string): Record<Source, StatementSync> => ({
  tasks: rowsOf(db, pageSql(columns, 'tasks')),
  words: rowsOf(db, pageSql(columns, 'words')),
  open: rowsOf(db, pageSql(columns, 'open')),
  named: rowsOf(db, pageSql(columns, 'named')),
})

export function history(db: Pick<DatabaseSync, 'prepare'>): History {
  const recordsOf = recordReader(db)
  const from = `SELECT ${WHOLE_COLUMNS} FROM ${TASKS}`
  const byFirst = rowsOf(db, `${from} WHERE operation = ?`)
  const byJoined = rowsOf(db, `${from} WHERE tasks.key = (SELECT task_key FROM operations WHERE name = ?)`)
  const ranges = historyRanges(db)
  const summaries = pagesOf(db, SUMMARY_COLUMNS)
  const wholes = pagesOf(db, WHOLE_COLUMNS)
  const wholePage = (query: HistoryQuery, range: Range): HistoryPage => {
    const rows: Row[] = []
    const ending = (next: string | undefined): HistoryPage => {
      const records = recordsOf(rows)
      return { tasks: records, records, begins: rows.map((row) => String(keyOf(row) + 1)), next }
    }
    let bytes = 0
    for (const row of wholes[range.source].iterate(parametersOf(query, range)) as unknown as Iterable<Row>) {
      bytes += bytesIn(row)
      if (bytes > MOST_PAGE_BYTES && rows.length > 0) return ending(String(keyOf(row) + 1))
      if (rows.push(row) === pageSize(query)) return ending(String(keyOf(row)))
    }
    return ending(ranges.after(range))
  }
  return {
    find(operation) {
      const row = (byFirst.get(operation) ?? byJoined.get(operation)) as unknown as Row | undefined
      return row && recordsOf([row])[0]
    },
    list(query, cursor) {
      const range = ranges.of(query, cursor)
      if (query.whole) return wholePage(query, range)
      const rows = summaries[range.source].all(parametersOf(query, range)) as unknown as Row[]
      const last = rows.at(-1)
      const isFull = last !== undefined && rows.length === pageSize(query)
      return { tasks: rows.map(summaryOf), next: isFull ? String(keyOf(last)) : ranges.after(range) }
    },
  }
}

const parametersOf = (query: HistoryQuery, { before, from, word }: Range): Record<string, SQLInputValue> => ({
  before,
  from,
  word,
  instance: query.instance ?? null,
  invocation: query.invocation ?? null,
  origin: query.origin ?? null,
  states: maskOf(query.states),
  orLeft: query.orLeft ? 1 : 0,
  name: query.name ?? null,
  labels: query.labels?.length ? JSON.stringify(query.labels.map(wordOf)) : null,
  acceptedFrom: query.acceptedFrom ?? -Number.MAX_VALUE,
  acceptedBefore: query.acceptedBefore ?? Number.MAX_VALUE,
  limit: pageSize(query),
})

const maskOf = (states: HistoryQuery['states']): number =>
  (states ?? (Object.keys(STATE_CODES) as (keyof typeof STATE_CODES)[])).reduce(
    (mask, state) => mask | (1 << STATE_CODES[state]),
    0,
  )
