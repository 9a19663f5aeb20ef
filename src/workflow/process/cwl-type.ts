export const PRIMITIVES = [
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'string',
  'File',
  'Directory',
  'Any',
] as const
export type PrimitiveName = (typeof PRIMITIVES)[number]

export interface SecondaryFile {
  /** A suffix, with a `^` for each extension to drop first, or an expression. */
  readonly pattern: string
  /** If left out: required for inputs, optional for outputs. */
  readonly required?: boolean | string
}

export type Listing = 'no_listing' | 'shallow_listing' | 'deep_listing'

/** The rules of a parameter or a field for its files. */
export interface DataRules {
  readonly secondaryFiles: readonly SecondaryFile[]
  /** Absolute addresses, or expressions that return them. */
  readonly format: readonly string[]
  readonly streamable: boolean
  readonly loadContents: boolean
  readonly loadListing?: Listing
}

export interface InputBinding {
  readonly position?: number | string
  readonly prefix?: string
  readonly separate: boolean
  readonly itemSeparator?: string
  readonly valueFrom?: string
  readonly shellQuote: boolean
}

export interface OutputBinding {
  readonly glob: readonly string[]
  readonly outputEval?: string
  readonly loadContents: boolean
  readonly loadListing?: Listing
}

export interface RecordField extends DataRules {
  readonly name: string
  readonly type: CwlType
  readonly binding?: InputBinding
  readonly outputBinding?: OutputBinding
}

interface Named {
  readonly name?: string
  readonly binding?: InputBinding
  readonly outputBinding?: OutputBinding
}

export type CwlType =
  | { readonly type: PrimitiveName }
  | ({ readonly type: 'array'; readonly items: CwlType } & Named)
  | ({ readonly type: 'record'; readonly fields: readonly RecordField[] } & Named)
  | ({ readonly type: 'enum'; readonly symbols: readonly string[] } & Named)
  | { readonly type: 'union'; readonly of: readonly CwlType[] }

export const primitive = (type: PrimitiveName): CwlType => ({ type })
export const arrayOf = (items: CwlType): CwlType => ({ type: 'array', items })

export function unionOf(types: readonly CwlType[]): CwlType {
  const [only] = types
  return types.length === 1 && only !== undefined ? only : { type: 'union', of: types }
}

export const alternatives = (type: CwlType): readonly CwlType[] =>
  type.type === 'union' ? type.of.flatMap(alternatives) : [type]

export const mayBeNull = (type: CwlType): boolean => alternatives(type).some(({ type: one }) => one === 'null')

export function typeText(type: CwlType): string {
  if (type.type === 'array')
    return type.items.type === 'union' ? `(${typeText(type.items)})[]` : `${typeText(type.items)}[]`
  if (type.type === 'union') return type.of.map(typeText).join(' | ')
  if (type.type === 'enum') return `enum(${type.symbols.join(', ')})`
  if (type.type === 'record')
    return `record(${type.fields.map((field) => `${field.name}: ${typeText(field.type)}`).join(', ')})`
  return type.type
}
