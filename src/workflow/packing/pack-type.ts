import type {
  CwlType,
  DataRules,
  InputBinding,
  OutputBinding,
  RecordField,
  SecondaryFile,
} from '../process/cwl-type.ts'
import type { Value, ValueRecord } from '../values/value.ts'

/** Writes a type as it appears in a document. */
export function packType(type: CwlType): Value {
  if (type.type === 'union') return type.of.map(packType)
  if (type.type === 'array') return { type: 'array', items: packType(type.items), ...named(type) }
  if (type.type === 'enum') return { type: 'enum', symbols: type.symbols, ...named(type) }
  if (type.type === 'record') return { type: 'record', fields: type.fields.map(packField), ...named(type) }
  return type.type
}

interface Named {
  readonly name?: string
  readonly binding?: InputBinding
  readonly outputBinding?: OutputBinding
}

const named = ({ name, binding, outputBinding }: Named): ValueRecord => ({
  ...(name === undefined ? {} : { name }),
  ...(binding === undefined ? {} : { inputBinding: packInputBinding(binding) }),
  ...(outputBinding === undefined ? {} : { outputBinding: packOutputBinding(outputBinding) }),
})

const packField = ({ type, ...field }: RecordField): ValueRecord => ({
  type: packType(type),
  ...named(field),
  ...packData(field),
  ...(field.loadContents ? { loadContents: true } : {}),
  ...(field.loadListing === undefined ? {} : { loadListing: field.loadListing }),
})

/** The rules for files that parameters and record fields share. */
export const packData = ({ secondaryFiles, format, streamable }: DataRules): ValueRecord => ({
  ...(secondaryFiles.length === 0 ? {} : { secondaryFiles: secondaryFiles.map(packSecondaryFile) }),
  ...(format.length === 0 ? {} : { format: format.length === 1 ? (format[0] ?? null) : format }),
  ...(streamable ? { streamable } : {}),
})

/** Prefers the short form, because v1.0 has no other. */
function packSecondaryFile({ pattern, required }: SecondaryFile): Value {
  if (required === undefined) return pattern
  return required === false && !pattern.includes('$') ? `${pattern}?` : { pattern, required }
}

export const packInputBinding = ({ separate, shellQuote, ...binding }: InputBinding): ValueRecord => ({
  ...binding,
  ...(separate ? {} : { separate }),
  ...(shellQuote ? {} : { shellQuote }),
})

export const packOutputBinding = ({ glob, loadContents, ...binding }: OutputBinding): ValueRecord => ({
  ...binding,
  ...(glob.length === 0 ? {} : { glob: glob.length === 1 ? (glob[0] ?? null) : glob }),
  ...(loadContents ? { loadContents } : {}),
})
