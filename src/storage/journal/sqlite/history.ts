import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { bytesOf, keyIn, MOST_PAGE_BYTES, pageSize } from '../history-page.ts'
import type { HistoryPage, HistoryQuery, TaskRecord } from '../journal.ts'
import { STATE_CODES } from './schema.ts'
import {
  keyOf,
  type Row,
  recordReader,
  rowsOf,
  STATE,
  SUMMARY_COLUMNS,
  summaryOf,
  TASKS,
  WHOLE_COLUMNS,
} from './task-row.ts'

/** What can be asked about tasks, over one connection that need not be able to write. */
export interface History {
  find(operation: string): TaskRecord | undefined
  list(query: HistoryQuery, cursor: string | undefined): HistoryPage
}

/** How many rows one page may look at: some ten milliseconds. */
const MOST_SCANNED = 10_000

/** A page of these columns. */
const pageSql = (columns: string): string =>
  `SELECT ${columns} FROM ${TASKS}
   WHERE tasks.key < :before AND tasks.key >= :from
     AND (:instance IS NULL OR instance = :instance)
     AND (:invocation IS NULL OR invocation = :invocation)
     AND (:origin IS NULL OR origin = :origin)
     AND ((1 << ${STATE}) & :states OR :orLeft AND (operation_left_at IS NOT NULL OR EXISTS (
       SELECT 1 FROM operations WHERE task_key = tasks.key AND left_at IS NOT NULL)))
     AND (:name IS NULL OR instr(operation, :name) OR EXISTS (
       SELECT 1 FROM operations WHERE task_key = tasks.key AND instr(operations.name, :name)))
     AND accepted_at >= :acceptedFrom AND accepted_at < :acceptedBefore
   ORDER BY tasks.key DESC LIMIT :limit`

export function history(db: Pick<DatabaseSync, 'prepare'>): History {
  const record = recordReader(db)
  const from = `SELECT ${WHOLE_COLUMNS} FROM ${TASKS}`
  const byFirst = rowsOf(db, `${from} WHERE operation = ?`)
  const byJoined = rowsOf(db, `${from} WHERE tasks.key = (SELECT task_key FROM operations WHERE name = ?)`)
  const newest = db.prepare('SELECT max(key) AS key FROM tasks')
  const floor = db.prepare('SELECT key FROM tasks WHERE key < ? ORDER BY key DESC LIMIT 1 OFFSET ?')
  const summaries = rowsOf(db, pageSql(SUMMARY_COLUMNS))
  const wholes = rowsOf(db, pageSql(WHOLE_COLUMNS))
  /** Which rows a page may look at. */
  const rangeOf = (cursor: string | undefined): Range => {
    const before = cursor === undefined ? Number(newest.get()?.key ?? 0) + 1 : keyIn(cursor)
    return { before, from: Number(floor.get(before, MOST_SCANNED - 1)?.key ?? 0) }
  }
  const wholePage = (query: HistoryQuery, range: Range): HistoryPage => {
    const tasks: TaskRecord[] = []
    const begins: string[] = []
    const ending = (key: number): HistoryPage => ({ tasks, records: tasks, begins, next: cursorOf(key) })
    let bytes = 0
    for (const row of wholes.iterate(parametersOf(query, range)) as unknown as Iterable<Row>) {
      const task = record(row)
      bytes += bytesOf(task)
      if (bytes > MOST_PAGE_BYTES && tasks.length > 0) return ending(keyOf(row) + 1)
      begins.push(String(keyOf(row) + 1))
      if (tasks.push(task) === pageSize(query)) return ending(keyOf(row))
    }
    return ending(range.from)
  }
  return {
    find(operation) {
      const row = (byFirst.get(operation) ?? byJoined.get(operation)) as unknown as Row | undefined
      return row && record(row)
    },
    list(query, cursor) {
      const range = rangeOf(cursor)
      if (query.whole) return wholePage(query, range)
      const rows = summaries.all(parametersOf(query, range)) as unknown as Row[]
      const last = rows.at(-1)
      const isFull = last !== undefined && rows.length === pageSize(query)
      return { tasks: rows.map(summaryOf), next: cursorOf(isFull ? keyOf(last) : range.from) }
    },
  }
}

interface Range {
  readonly before: number
  readonly from: number
}

const cursorOf = (key: number): string | undefined => (key > 0 ? String(key) : undefined)

const parametersOf = (query: HistoryQuery, range: Range): Record<string, SQLInputValue> => ({
  ...range,
  instance: query.instance ?? null,
  invocation: query.invocation ?? null,
  origin: query.origin ?? null,
  states: maskOf(query.states),
  orLeft: query.orLeft ? 1 : 0,
  name: query.name ?? null,
  acceptedFrom: query.acceptedFrom ?? -Number.MAX_VALUE,
  acceptedBefore: query.acceptedBefore ?? Number.MAX_VALUE,
  limit: pageSize(query),
})

const maskOf = (states: HistoryQuery['states']): number =>
  (states ?? (Object.keys(STATE_CODES) as (keyof typeof STATE_CODES)[])).reduce(
    (mask, state) => mask | (1 << STATE_CODES[state]),
    0,
  )
