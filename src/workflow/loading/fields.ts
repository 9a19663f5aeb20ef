import type { Version } from '../process/version.ts'

/**
 * The allowed values of a field. Identity maps are lists whose records may also be written as a map, from the field
 * `subject` to the record, or to its field `predicate` alone.
 */
export type FieldShape =
  | 'null'
  | 'boolean'
  | 'int'
  | 'number'
  | 'string'
  | 'expression'
  | 'any'
  | { readonly words: readonly string[] }
  | { readonly list: FieldShape }
  | { readonly oneOf: readonly FieldShape[] }
  | { readonly record: () => RecordTable }
  | { readonly map: () => RecordTable; readonly subject: string; readonly predicate?: string }
  | { readonly shape: FieldShape; readonly since: Version }

export interface DocumentField {
  readonly shape: FieldShape
  readonly required: boolean
  readonly since: Version
}

export interface RecordTable {
  /** The name in error messages. */
  readonly name: string
  readonly fields: Readonly<Record<string, DocumentField>>
}

export const mayHave = (shape: FieldShape, since: Version = 10): DocumentField => ({ shape, required: false, since })
export const mustHave = (shape: FieldShape): DocumentField => ({ shape, required: true, since: 10 })
export const oneOf = (...shapes: FieldShape[]): FieldShape => ({ oneOf: shapes })
export const list = (shape: FieldShape): FieldShape => ({ list: shape })
export const words = (...symbols: string[]): FieldShape => ({ words: symbols })
export const record = (table: () => RecordTable): FieldShape => ({ record: table })
export const since = (version: Version, shape: FieldShape): FieldShape => ({ shape, since: version })
export const table = (name: string, fields: RecordTable['fields']): RecordTable => ({ name, fields })

export const mapOf = (records: () => RecordTable, subject: string, predicate?: string): FieldShape =>
  predicate === undefined ? { map: records, subject } : { map: records, subject, predicate }

export const stringOrList = oneOf('string', list('string'))
