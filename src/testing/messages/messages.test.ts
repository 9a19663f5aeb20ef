import { describe, expect, test } from 'vitest'
import { parseSource } from '../tidy/source-file.ts'
import { ERROR_ROWS } from './error-table.ts'
import { messagesIn } from './inventory.ts'
import { LOG_ROWS } from './log-table.ts'
import type { MessageRow } from './page.ts'
import { committedPage, currentPage, messagesOfSource } from './write-page.ts'

const found = messagesOfSource()
const logs = new Set(found.filter(({ kind }) => kind !== 'fault').map(({ text }) => text))
const errors = new Set(found.filter(({ kind }) => kind === 'fault').map(({ text }) => text))

/** Reworded a message? Change the text of its row; the failure shows both. */
describe.each<[string, ReadonlySet<string>, readonly MessageRow[]]>([
  ['log line', logs, LOG_ROWS],
  ['start error', errors, ERROR_ROWS],
])('messages of kind %s', (_, texts, rows) => {
  test('each has a row in its table, and each row has a message', () => {
    const known = new Set(rows.map(({ text }) => text))
    expect({
      withoutRow: [...texts].filter((text) => !known.has(text)),
      withoutMessage: [...known].filter((text) => !texts.has(text)),
    }).toEqual({ withoutRow: [], withoutMessage: [] })
  })
})

test('docs/guide/troubleshooting.md is up to date (if not: npm run messages)', () => {
  expect(committedPage()).toBe(currentPage(found))
})

test('messages are found in log calls, faults, templates and conditional expressions', () => {
  const source = `
    log.warn({ id }, 'one')
    shell.log.error({}, isLate ? 'two' : 'three')
    readiness.warn(CAUSE, problems)
    log.info({}, 'quiet')
    throw new FaultError({ kind: 'absent', what: \`four \${name} is\` + ' five' })
    throw invalid('six')
  `
  expect(messagesIn([parseSource('src/app/a.ts', source)], () => true)).toMatchObject([
    { kind: 'warn', text: 'one' },
    { kind: 'error', text: 'two' },
    { kind: 'error', text: 'three' },
    { kind: 'fault', text: 'four … is five' },
    { kind: 'fault', text: 'six' },
  ])
})
