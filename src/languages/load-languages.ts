import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, type TomlTable } from 'smol-toml'
import type { z } from 'zod'
import { FaultError, invalid } from '../base/fault.ts'
import type { Language } from '../model/language.ts'
import { languageFile, languageOf } from './language-file.ts'

/** The same relative path from the sources and from the build. */
const SHIPPED = fileURLToPath(new URL('../../languages', import.meta.url))

/** zod compiles a schema at its first use, which takes longer than to check two dozen files without that. */
const ONCE = { jitless: true }

/**
 * Loads the built-in languages, and the user's own from a folder, which override those of the same name. Sorted by
 * name. Throws `invalid` with one line per problem, each with its file and field.
 */
export function loadLanguages(own?: string): readonly Language[] {
  const files = new Map<string, LanguageTable>()
  for (const file of [...readFolder(SHIPPED), ...(own === undefined ? [] : readFolder(own))]) files.set(file.name, file)
  const problems: string[] = []
  const languages = [...files.values()].flatMap((file) => {
    const { success, data, error } = languageFile.safeParse(extended(file, files, problems), ONCE)
    if (success) return [languageOf(data)]
    problems.push(...error.issues.map((issue) => `${file.path}: ${issueText(issue)}`))
    return []
  })
  problems.push(...doubleNames(languages))
  if (problems.length > 0) throw invalid([...new Set(problems)].join('\n'))
  return languages.sort((one, other) => (one.name < other.name ? -1 : 1))
}

interface LanguageTable {
  readonly path: string
  readonly name: string
  readonly table: TomlTable
}

function readFolder(folder: string): LanguageTable[] {
  return namesIn(folder)
    .filter((file) => file.endsWith('.toml'))
    .sort()
    .map((file) => {
      const path = join(folder, file)
      const table = readTable(path)
      return { path, name: typeof table.name === 'string' ? table.name : file, table }
    })
}

/** The user's folder need not exist. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && folder !== SHIPPED) return []
    throw new FaultError({ kind: 'invalid', what: `cannot read ${folder}: ${(error as Error).message}` }, error)
  }
}

function readTable(path: string): TomlTable {
  try {
    return parse(readFileSync(path, 'utf8'), { unsafeKeyBehaviour: 'throw' })
  } catch (error) {
    const [headline] = (error as Error).message.split('\n')
    throw new FaultError({ kind: 'invalid', what: `${path}: ${headline}` }, error)
  }
}

/** A file that extends another inherits all fields that it does not set; tables are merged by entry. */
function extended(file: LanguageTable, files: ReadonlyMap<string, LanguageTable>, problems: string[]): TomlTable {
  const { extends: named, ...own } = file.table
  if (named === undefined) return own
  const base = typeof named === 'string' ? files.get(named) : undefined
  if (base === undefined || base.table.extends !== undefined) {
    problems.push(`${file.path}: extends: must name a language that has no extends itself`)
    return own
  }
  // Aliases and further packages are not inherited.
  const { aliases: _, libraries: __, ...rest } = base.table
  const merged: TomlTable = { ...rest }
  for (const [key, value] of Object.entries(own)) {
    const under = rest[key]
    merged[key] = isTable(value) && isTable(under) ? { ...under, ...value } : value
  }
  return merged
}

const isTable = (value: unknown): value is TomlTable =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

const issueText = ({ path, message }: z.core.$ZodIssue): string =>
  path.length === 0 ? message : `${path.join('.')}: ${message}`

/** Each name means one language. */
function doubleNames(languages: readonly Language[]): string[] {
  const owners = new Map<string, string>()
  const problems: string[] = []
  for (const { name, aliases } of languages)
    for (const each of [name, ...aliases]) {
      const owner = owners.get(each)
      if (owner !== undefined) problems.push(`${each} is a name of both ${owner} and ${name}`)
      owners.set(each, name)
    }
  return problems
}
