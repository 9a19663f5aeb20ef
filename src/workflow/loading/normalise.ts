import { nearest } from '../../base/nearest.ts'
import { hasExpression } from '../expressions/scan.ts'
import { type Version, versionText } from '../process/version.ts'
import { descend, keysOf, placeOf, problem, remember, type SourcePlace } from '../values/place.ts'
import { describeValue, isRecord, type Value, type ValueRecord } from '../values/value.ts'
import type { DocumentField, FieldShape, RecordTable } from './fields.ts'
import { isOpen } from './process-fields.ts'

/** Settings of the whole document, for the normalisation of its records. */
export interface Rules {
  readonly version: Version
  readonly namespaces: ReadonlyMap<string, string>
}

/**
 * Converts a record to the one form that later stages read: identity maps become lists, and every field is checked
 * against its table for the document's version. Unknown fields are errors unless they have a namespace prefix.
 */
export function normaliseRecord(value: Value, table: RecordTable, rules: Rules): ValueRecord {
  if (!isRecord(value)) throw problem(undefined, `${table.name} must be a record, not ${describeValue(value)}`)
  if (isOpen(table)) return value
  const entries: [string, Value][] = []
  for (const key of keysOf(value)) {
    const known = Object.hasOwn(table.fields, key) ? table.fields[key] : undefined
    if (known !== undefined) {
      const made = fieldValue({ value, key, table }, known, rules)
      if (made !== undefined) entries.push([key, made])
    } else if (!isExtension(key)) throw unknownField(value, key, table)
  }
  for (const [key, { required }] of Object.entries(table.fields)) {
    if (required && !Object.hasOwn(value, key)) throw problem(placeOf(value), `${table.name} needs the field ${key}`)
  }
  return descend(Object.fromEntries(entries), value)
}

/** Names with a prefix, and whole addresses, are extensions; `$` marks fields of the document. */
const isExtension = (key: string): boolean => key.includes(':') || key.startsWith('$')

interface Spot {
  readonly value: ValueRecord
  readonly key: string
  readonly table: RecordTable
}

function fieldValue({ value, key, table }: Spot, known: DocumentField, rules: Rules): Value | undefined {
  const at = placeOf(value, key)
  const content = value[key] ?? null
  if (known.since > rules.version) throw tooNew(at, `the field ${key} of ${table.name}`, { since: known.since, rules })
  if (content === null && !known.required && !allowsNull(known.shape)) return undefined
  return normalise(content, known.shape, { rules, at, what: `${key} of ${table.name}` })
}

const allowsNull = (shape: FieldShape): boolean =>
  shape === 'any' || shape === 'null' || (typeof shape === 'object' && 'oneOf' in shape && shape.oneOf.some(allowsNull))

export const tooNew = (at: SourcePlace | undefined, what: string, { since, rules }: { since: Version; rules: Rules }) =>
  problem(
    at,
    `${what} came with CWL ${versionText(since)}, but this document has cwlVersion ${versionText(rules.version)}; raise its cwlVersion`,
  )

function unknownField(value: ValueRecord, key: string, table: RecordTable) {
  const fields = Object.keys(table.fields)
  const near = nearest(key, fields)
  const hint = near === undefined ? `it may have ${fields.join(', ')}` : `did you mean ${near}?`
  return problem(placeOf(value, key), `${table.name} has no field ${key}; ${hint}`)
}

interface Context {
  readonly rules: Rules
  readonly at: SourcePlace | undefined
  readonly what: string
}

function normalise(value: Value, shape: FieldShape, context: Context): Value {
  const fitting = choose(value, shape, context)
  if (fitting === undefined) {
    throw problem(context.at, `${context.what} must be ${shapeText(shape)}, not ${describeValue(value)}`)
  }
  if (typeof fitting === 'string' || 'words' in fitting) return value
  if ('list' in fitting) {
    const { list } = fitting
    const items = value as readonly Value[]
    return descend(
      items.map((one, index) => normalise(one, list, { ...context, at: placeOf(items, index) ?? context.at })),
      items,
    )
  }
  if ('record' in fitting) return normaliseRecord(value, fitting.record(), context.rules)
  if ('map' in fitting) return identityMap(value, fitting, context)
  return value
}

/** Returns the alternative of a shape for a value. Its JSON kind decides, so that errors refer to one alternative. */
function choose(value: Value, shape: FieldShape, context: Context): FieldShape | undefined {
  if (typeof shape === 'string') return isPlain(value, shape) ? shape : undefined
  if ('words' in shape) return typeof value === 'string' && shape.words.includes(value) ? shape : undefined
  if ('list' in shape) return Array.isArray(value) ? shape : undefined
  if ('record' in shape) return isRecord(value) ? shape : undefined
  if ('map' in shape) return isRecord(value) || Array.isArray(value) ? shape : undefined
  if ('shape' in shape) return chooseRecent(value, shape, context)
  return shape.oneOf.reduce<FieldShape | undefined>((found, one) => found ?? choose(value, one, context), undefined)
}

function chooseRecent(
  value: Value,
  { shape, since }: { shape: FieldShape; since: Version },
  context: Context,
): FieldShape | undefined {
  const found = choose(value, shape, context)
  if (found !== undefined && since > context.rules.version) {
    throw tooNew(context.at, `${describeValue(value)} as ${context.what}`, { since, rules: context.rules })
  }
  return found
}

function isPlain(value: Value, shape: FieldShape & string): boolean {
  if (shape === 'any') return true
  if (shape === 'null') return value === null
  if (shape === 'int') return Number.isInteger(value)
  if (shape === 'expression') return typeof value === 'string' && hasExpression(value)
  return typeof value === shape
}

function identityMap(value: Value, shape: FieldShape & { subject: string }, context: Context): Value {
  if (!('map' in shape)) return value
  const table = shape.map()
  const nodes = Array.isArray(value)
    ? (value as readonly Value[])
    : keysOf(value as ValueRecord).map((key) => listed(value as ValueRecord, key, shape))
  const seen = new Set<Value>()
  const made = nodes.map((node, index) => {
    const at = placeOf(value, index) ?? context.at
    if (!isRecord(node)) throw problem(at, `${table.name} must be a record, not ${describeValue(node)}`)
    const one = normaliseRecord(node, table, context.rules)
    const subject = one[shape.subject]
    if (subject === undefined) throw problem(placeOf(node) ?? at, `${table.name} needs the field ${shape.subject}`)
    if (seen.has(subject)) throw problem(placeOf(node) ?? at, `${String(subject)} is there twice in ${context.what}`)
    seen.add(subject)
    return one
  })
  return descend(made, value as object)
}

function listed(map: ValueRecord, key: string, shape: { subject: string; predicate?: string }): Value {
  const content = map[key] ?? null
  const at = placeOf(map, key)
  const own = isRecord(content)
  const fields: ValueRecord = own ? content : shape.predicate === undefined ? {} : { [shape.predicate]: content }
  if (!own && shape.predicate === undefined && content !== null) {
    throw problem(at, `${key} must be a record, not ${describeValue(content)}`)
  }
  const made = { ...fields, [shape.subject]: key }
  const places = new Map<string, SourcePlace>([[shape.subject, at ?? NOWHERE]])
  for (const name of own ? keysOf(content) : []) places.set(name, placeOf(content, name) ?? at ?? NOWHERE)
  if (!own && shape.predicate !== undefined) places.set(shape.predicate, at ?? NOWHERE)
  return remember(made, placeOf(own ? content : map, own ? undefined : key) ?? at ?? NOWHERE, places)
}

const NOWHERE: SourcePlace = { uri: '', line: 1, column: 1 }

function shapeText(shape: FieldShape): string {
  if (typeof shape === 'string') return SHAPE_WORDS[shape]
  if ('words' in shape) return `one of ${shape.words.join(', ')}`
  if ('list' in shape) return `a list (each ${shapeText(shape.list)})`
  if ('record' in shape) return shape.record().name
  if ('map' in shape) return 'a list or a map of records'
  if ('shape' in shape) return shapeText(shape.shape)
  return shape.oneOf.map(shapeText).join(' or ')
}

const SHAPE_WORDS: Readonly<Record<FieldShape & string, string>> = {
  null: 'null',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  expression: 'an expression such as $(inputs.x)',
  any: 'anything',
}
