import { invalid } from '../../base/fault.ts'
import { basenameOf } from './uri.ts'
import { isList, isRecord, type Value, type ValueRecord } from './value.ts'

export interface FileValue extends ValueRecord {
  readonly class: 'File'
}
export interface DirectoryValue extends ValueRecord {
  readonly class: 'Directory'
}
export type DataValue = FileValue | DirectoryValue

export const isFile = (value: Value | undefined): value is FileValue => isRecord(value) && value.class === 'File'
export const isDirectory = (value: Value | undefined): value is DirectoryValue =>
  isRecord(value) && value.class === 'Directory'
export const isData = (value: Value | undefined): value is DataValue => isFile(value) || isDirectory(value)

/** The File and Directory values that belong to a value: its secondary files, or its listing. */
export const companions = (value: ValueRecord): readonly DataValue[] =>
  isList(value.secondaryFiles) ? value.secondaryFiles.filter(isData) : []

export const listingOf = (value: ValueRecord): readonly DataValue[] | undefined =>
  isList(value.listing) ? value.listing.filter(isData) : undefined

/** `archive.tar.gz` is `archive.tar` and `.gz`; a leading dot belongs to the root. */
export function nameParts(basename: string): { nameroot: string; nameext: string } {
  const dot = basename.lastIndexOf('.')
  if (dot <= 0) return { nameroot: basename, nameext: '' }
  return { nameroot: basename.slice(0, dot), nameext: basename.slice(dot) }
}

/** Maps every File and Directory in a value, including nested ones, inner ones first. */
export function mapData(value: Value, change: (data: DataValue) => Value): Value {
  if (isList(value)) return value.map((one) => mapData(one, change))
  if (!isRecord(value)) return value
  const made = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapData(one, change)])) as ValueRecord
  return isData(made) ? change(made) : made
}

/** The same for asynchronous functions. They run sequentially, so that the order is always the same. */
export async function mapDataSlowly(value: Value, change: (data: DataValue) => Promise<Value>): Promise<Value> {
  if (isList(value)) {
    const list: Value[] = []
    for (const one of value) list.push(await mapDataSlowly(one, change))
    return list
  }
  if (!isRecord(value)) return value
  const entries: [string, Value][] = []
  for (const [key, one] of Object.entries(value)) entries.push([key, await mapDataSlowly(one, change)])
  const made = Object.fromEntries(entries) as ValueRecord
  return isData(made) ? change(made) : made
}

/**
 * Derives `basename` and related fields from the location of a File or Directory; a literal must have contents or a
 * listing.
 */
export function withNames(data: DataValue): DataValue {
  const { location } = data
  const given = typeof data.basename === 'string' ? data.basename : undefined
  if (given !== undefined && (given.includes('/') || given === '..' || given === '.')) {
    throw invalid(`${given} cannot be a basename: it must be a plain name`)
  }
  if (typeof location !== 'string' && typeof data.path !== 'string') return literalNames(data, given)
  const basename = given ?? basenameOf(typeof location === 'string' ? location : String(data.path))
  if (data.class === 'Directory') return { ...data, basename }
  return { ...data, basename, ...nameParts(basename) }
}

function literalNames(data: DataValue, given: string | undefined): DataValue {
  if (data.class === 'Directory') {
    if (!isList(data.listing)) throw invalid('a Directory needs a location, or a listing of what is in it')
    return given === undefined ? data : { ...data, basename: given }
  }
  if (typeof data.contents !== 'string') throw invalid('a File needs a location, or contents')
  const size = new TextEncoder().encode(data.contents).length
  return given === undefined ? { ...data, size } : { ...data, size, basename: given, ...nameParts(given) }
}

/** A name derived from another: `^` drops an extension first. */
export function companionName(basename: string, pattern: string): string {
  if (!pattern.startsWith('^')) return basename + pattern
  const dot = basename.lastIndexOf('.')
  return companionName(dot > 0 ? basename.slice(0, dot) : basename, pattern.slice(1))
}
