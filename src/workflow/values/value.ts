/** A value of a workflow: plain JSON, in which records with a `class` of File or Directory represent data. */
export type Value = null | boolean | number | string | readonly Value[] | ValueRecord
export interface ValueRecord {
  readonly [name: string]: Value
}

export const isRecord = (value: unknown): value is ValueRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value)

/** A field of an untrusted record: inherited names such as `constructor` are undefined. */
export const field = (record: ValueRecord, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

export const text = (value: Value | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** Describes a value for error messages. */
export function describeValue(value: Value | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (isRecord(value)) return typeof value.class === 'string' ? `a ${value.class}` : 'a record'
  const words = JSON.stringify(value)
  return words.length > 60 ? `${words.slice(0, 57)}…` : words
}
