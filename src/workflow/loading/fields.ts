/** Versions of CWL as numbers that compare: v1.2 is 12. */
export type Version = 10 | 11 | 12 | 13

export const VERSIONS: Readonly<Record<string, Version>> = {
  'v1.0': 10,
  'v1.1': 11,
  'v1.1.0-dev1': 11,
  'v1.2': 12,
  'v1.2.0-dev1': 12,
  'v1.2.0-dev2': 12,
  'v1.2.0-dev3': 12,
  'v1.2.0-dev4': 12,
  'v1.2.0-dev5': 12,
  'v1.3': 13,
  'v1.3.0-dev1': 13,
}

export const versionText = (version: Version): string => `v${Math.floor(version / 10)}.${version % 10}`

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
