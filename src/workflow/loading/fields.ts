import type { Version } from '../process/version.ts'

/**
 * What may stand in a field. Identity maps are lists whose records may also be written as a map, from the field
 * `subject` to the record, or to its field `predicate` alone.
 */
export type Shape =
  | 'null'
  | 'boolean'
  | 'int'
  | 'number'
  | 'string'
  | 'expression'
  | 'any'
  | { readonly words: readonly string[] }
  | { readonly list: Shape }
  | { readonly oneOf: readonly Shape[] }
  | { readonly record: () => RecordTable }
  | { readonly map: () => RecordTable; readonly subject: string; readonly predicate?: string }
  | { readonly shape: Shape; readonly since: Version }

export interface Field {
  readonly shape: Shape
  readonly required: boolean
  readonly since: Version
}

export interface RecordTable {
  /** How messages call it. */
  readonly name: string
  readonly fields: Readonly<Record<string, Field>>
}

export const may = (shape: Shape, since: Version = 10): Field => ({ shape, required: false, since })
export const must = (shape: Shape): Field => ({ shape, required: true, since: 10 })
export const oneOf = (...shapes: Shape[]): Shape => ({ oneOf: shapes })
export const list = (shape: Shape): Shape => ({ list: shape })
export const words = (...symbols: string[]): Shape => ({ words: symbols })
export const record = (table: () => RecordTable): Shape => ({ record: table })
export const since = (version: Version, shape: Shape): Shape => ({ shape, since: version })
export const table = (name: string, fields: RecordTable['fields']): RecordTable => ({ name, fields })

export const mapOf = (records: () => RecordTable, subject: string, predicate?: string): Shape =>
  predicate === undefined ? { map: records, subject } : { map: records, subject, predicate }

export const stringOrList = oneOf('string', list('string'))
