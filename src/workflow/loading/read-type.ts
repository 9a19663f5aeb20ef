import { hasExpression } from '../expressions/scan.ts'
import {
  arrayOf,
  type CwlType,
  type DataRules,
  type InputBinding,
  type Listing,
  type OutputBinding,
  PRIMITIVES,
  primitive,
  type RecordField,
  type SecondaryFile,
  unionOf,
} from '../process/cwl-type.ts'
import { placeOf, problem, type SourcePlace } from '../values/place.ts'
import { hasScheme, resolveUri, shortName } from '../values/uri.ts'
import { describeValue, isRecord, text, type Value, type ValueRecord } from '../values/value.ts'
import { normaliseRecord, type Rules } from './normalise.ts'
import { typeSchema } from './process-fields.ts'

/** The named types of SchemaDefRequirement, before they are parsed. */
export interface TypeNames {
  find(uri: string): { readonly node: ValueRecord; readonly names: TypeNames } | undefined
}

export interface TypeContext {
  readonly rules: Rules
  readonly names: TypeNames
  readonly at: SourcePlace | undefined
  /** Names that are being read: a type may not contain itself. */
  readonly open?: readonly string[]
}

const SALAD = /^(?:sld:|https:\/\/w3id\.org\/cwl\/(?:salad|cwl)#|cwl:|xsd:|http:\/\/www\.w3\.org\/2001\/XMLSchema#)/

export function readType(value: Value, context: TypeContext): CwlType {
  if (typeof value === 'string') return readShort(value, context)
  if (Array.isArray(value)) {
    if (value.length === 0) throw problem(context.at, 'a type must not be an empty list')
    return unionOf(value.map((one, index) => readType(one, { ...context, at: placeOf(value, index) ?? context.at })))
  }
  if (isRecord(value)) return readSchema(value, context)
  throw problem(context.at, `a type must be a name, a record or a list of types, not ${describeValue(value)}`)
}

/** `int`, `int?`, `File[]`, `File[]?`, or the name of a type of SchemaDefRequirement. */
function readShort(value: string, context: TypeContext): CwlType {
  if (value.endsWith('?')) return unionOf([primitive('null'), readShort(value.slice(0, -1), context)])
  if (value.endsWith('[]')) return arrayOf(readShort(value.slice(0, -2), context))
  const plain = value.replace(SALAD, '')
  const known = PRIMITIVES.find((name) => name === plain)
  if (known !== undefined) return primitive(known)
  const base = context.at?.uri ?? ''
  const uri = value.includes('#') || hasScheme(value) ? resolveUri(base, value) : `${base}#${value}`
  const found = context.names.find(uri)
  if (found === undefined) {
    throw problem(context.at, `there is no type ${value}: it is not built in, and no SchemaDefRequirement names it`)
  }
  const open = context.open ?? []
  if (open.includes(uri)) throw problem(context.at, `the type ${value} contains itself`)
  return readSchema(found.node, { ...context, names: found.names, at: placeOf(found.node), open: [...open, uri] })
}

function readSchema(value: ValueRecord, context: TypeContext): CwlType {
  const node = normaliseRecord(value, typeSchema, context.rules)
  const at = placeOf(value) ?? context.at
  const kind = text(node.type)?.replace(SALAD, '')
  const name = text(node.name)
  const named = { ...(name === undefined ? {} : { name }), ...bindingsOf(node) }
  if (kind === 'array') {
    if (node.items === undefined) throw problem(at, 'an array type needs the field items')
    return { type: 'array', items: readType(node.items, { ...context, at: placeOf(value, 'items') ?? at }), ...named }
  }
  if (kind === 'enum') {
    if (!Array.isArray(node.symbols)) throw problem(at, 'an enum type needs the field symbols')
    return { type: 'enum', symbols: (node.symbols as readonly string[]).map(symbolName), ...named }
  }
  if (kind === 'record') {
    const fields = (node.fields ?? []) as readonly ValueRecord[]
    return { type: 'record', fields: fields.map((field) => readField(field, { ...context, at })), ...named }
  }
  if (kind !== undefined && Object.keys(node).length === 1) return readShort(kind, { ...context, at })
  throw problem(at, `a type written as a record is an array, an enum or a record, not ${describeValue(node.type)}`)
}

/** Packed documents write symbols as complete ids. */
const symbolName = (symbol: string): string => (symbol.includes('#') ? shortName(symbol) : symbol)

function readField(node: ValueRecord, context: TypeContext): RecordField {
  const at = placeOf(node, 'type') ?? context.at
  return {
    name: shortName(text(node.name) ?? ''),
    type: readType(node.type ?? null, { ...context, at }),
    ...dataRules(node, context.rules),
    ...bindingsOf(node),
  }
}

const bindingsOf = (node: ValueRecord): { binding?: InputBinding; outputBinding?: OutputBinding } => ({
  ...(isRecord(node.inputBinding) ? { binding: readInputBinding(node.inputBinding) } : {}),
  ...(isRecord(node.outputBinding) ? { outputBinding: readOutputBinding(node.outputBinding) } : {}),
})

export function readInputBinding(node: ValueRecord): InputBinding {
  const { position, prefix, itemSeparator, valueFrom } = node
  return {
    ...(typeof position === 'number' || typeof position === 'string' ? { position } : {}),
    ...(typeof prefix === 'string' ? { prefix } : {}),
    ...(typeof itemSeparator === 'string' ? { itemSeparator } : {}),
    ...(typeof valueFrom === 'string' ? { valueFrom } : {}),
    separate: node.separate !== false,
    shellQuote: node.shellQuote !== false,
  }
}

export function readOutputBinding(node: ValueRecord): OutputBinding {
  const { outputEval } = node
  return {
    glob: textList(node.glob),
    ...(typeof outputEval === 'string' ? { outputEval } : {}),
    loadContents: node.loadContents === true,
    ...listingField(node.loadListing),
  }
}

export const textList = (value: Value | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

export const listingField = (value: Value | undefined): { loadListing?: Listing } =>
  typeof value === 'string' ? { loadListing: value as Listing } : {}

export function dataRules(node: ValueRecord, rules: Rules): DataRules {
  const binding = isRecord(node.inputBinding) ? node.inputBinding : {}
  return {
    secondaryFiles: secondaryFilesOf(node.secondaryFiles),
    format: textList(node.format).map((format) => expandName(format, node, rules)),
    streamable: node.streamable === true,
    loadContents: node.loadContents === true || binding.loadContents === true,
    ...listingField(node.loadListing),
  }
}

/** Expands `edam:format_2330` to an address when its prefix is known. */
function expandName(name: string, node: ValueRecord, rules: Rules): string {
  if (hasExpression(name)) return name
  const [, prefix, rest] = /^([^:/#]+):(.*)$/s.exec(name) ?? []
  const space = prefix === undefined ? undefined : rules.namespaces.get(prefix)
  if (space !== undefined) return space + (rest ?? '')
  return resolveUri(placeOf(node)?.uri ?? '', name)
}

function secondaryFilesOf(value: Value | undefined): readonly SecondaryFile[] {
  const nodes = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]
  return (nodes as readonly Value[]).flatMap((one): SecondaryFile[] => {
    if (typeof one === 'string') return [fromShort(one)]
    if (!isRecord(one)) return []
    const short = fromShort(text(one.pattern) ?? '')
    const { required } = one
    return [
      typeof required === 'boolean' || typeof required === 'string'
        ? { pattern: text(one.pattern) ?? '', required }
        : short,
    ]
  })
}

/** A question mark at the end makes it optional; in an expression it is part of the expression. */
const fromShort = (pattern: string): SecondaryFile =>
  pattern.endsWith('?') && !hasExpression(pattern) ? { pattern: pattern.slice(0, -1), required: false } : { pattern }
