import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServedFile } from './served-file.ts'

/** The entry module in the browser; the other modules are beside it. */
const ENTRY = new URL('./page/playground.ts', import.meta.url)
const FOLDER = new URL('.', ENTRY)

/** Sources are served with their types stripped. An installed package has no sources: its modules are JavaScript. */
const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

const JAVASCRIPT = 'text/javascript; charset=utf-8'

/** The modules of the page, by the name under which they import each other. */
export function pageModules(): ReadonlyMap<string, ServedFile> {
  const names = readdirSync(FOLDER).filter((name) => extname(name) === ENDING && !name.endsWith('.d.ts'))
  return new Map(
    names.map((name) => [name, { type: JAVASCRIPT, text: () => script(readFileSync(new URL(name, FOLDER), 'utf8')) }]),
  )
}

const script = (source: string): string => (ENDING === '.ts' ? stripTypeScriptTypes(source) : source)

export const entryName = basename(fileURLToPath(ENTRY), '.ts') + ENDING

export const libraryModule = (file: string): ServedFile => ({
  type: JAVASCRIPT,
  text: () => readFileSync(file, 'utf8'),
})
