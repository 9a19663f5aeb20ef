import { nearest } from '../../base/nearest.ts'
import type { ConfigField } from './field.ts'
import { place, type Table } from './table.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Variables that tests and tools read; not settings. */
const NOT_SETTINGS = new Set(['WINDLASS_SERVER', 'WINDLASS_REQUIRE', 'WINDLASS_SEED', 'WINDLASS_TEST_COUNTS'])

const SWITCH = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

export interface EnvironmentLayer {
  readonly values: Table
  /** Returns unknown WINDLASS_* variables, each with the nearest known name. */
  readonly unknown: readonly string[]
}

/**
 * Reads the settings in WINDLASS_ variables. An empty variable counts as unset, as in most programs, unless the field
 * allows an empty value.
 */
export function readEnvironment(env: Environment, fields: readonly ConfigField[]): EnvironmentLayer {
  const byVariable = new Map(fields.map((field) => [field.variable, field]))
  const values: Table = {}
  const unknown: string[] = []
  for (const [name, text] of Object.entries(env).sort()) {
    if (!name.startsWith('WINDLASS_') || text === undefined) continue
    const field = byVariable.get(name)
    if (text === '' && !field?.emptyIsNone) continue
    if (field !== undefined) place(values, field.key, parseText(text, field))
    else if (!NOT_SETTINGS.has(name)) unknown.push(withGuess(name, [...byVariable.keys()]))
  }
  return { values, unknown }
}

/** Text that does not parse stays text, so that the schema reports it. */
function parseText(text: string, { form, valueForm }: Pick<ConfigField, 'form' | 'valueForm'>): unknown {
  if (form === 'number') return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
  if (form === 'boolean') return SWITCH.get(text.toLowerCase()) ?? text
  if (form === 'list') return text.trim() === '[]' ? [] : parts(text)
  if (form === 'map') return mapOf(parts(text), valueForm ?? 'string') ?? text
  return text
}

const parts = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Parses `OSFamily=Linux,Arch=x86_64`. A number contains no `=`, so a name before one may: `Pool=gpu=600`. */
function mapOf(pairs: readonly string[], form: NonNullable<ConfigField['valueForm']>): Table | undefined {
  const splitAt = (pair: string): number => (form === 'number' ? pair.lastIndexOf('=') : pair.indexOf('='))
  if (!pairs.every((pair) => splitAt(pair) > 0)) return undefined
  const parse = (text: string): unknown => parseText(text, { form, valueForm: undefined })
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, splitAt(pair)), parse(pair.slice(splitAt(pair) + 1))]))
}

function withGuess(name: string, known: readonly string[]): string {
  const guess = nearest(name, known)
  return guess === undefined ? name : `${name} (did you mean ${guess}?)`
}
