import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { listFiles, readSources } from '../tidy/read-tree.ts'
import { ERROR_ROWS } from './error-table.ts'
import { type Message, messagesIn } from './inventory.ts'
import { LOG_ROWS } from './log-table.ts'
import { troubleshootingPage } from './page.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const PAGE = resolve(ROOT, 'docs/guide/troubleshooting.md')

/** Errors of these files end a server or worker at its start, or are printed when a command connects. */
const hasStartErrors = (path: string): boolean =>
  /^src\/(app\/(config|process|server|worker)|cli\/session)\//.test(path)

/** Without texts that consist of values alone: their words come from the value. */
export const messagesOfSource = (): Message[] => {
  const paths = listFiles(ROOT).filter((path) => path.startsWith('src/'))
  return messagesIn(readSources(ROOT, paths), hasStartErrors).filter(({ text }) => /\w+ \w+/.test(text))
}

export const currentPage = (found: readonly Message[]): string => troubleshootingPage(LOG_ROWS, ERROR_ROWS, found)

export const committedPage = (): string => readFileSync(PAGE, 'utf8')

/** `npm run messages` */
if (import.meta.main) writeFileSync(PAGE, currentPage(messagesOfSource()))
