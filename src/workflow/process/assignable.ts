import { alternatives, arrayOf, type CwlType, primitive, unionOf } from './cwl-type.ts'
import type { LinkMerge, PickValue } from './process.ts'

const NUMBERS = new Set(['int', 'long', 'float', 'double'])

/**
 * Whether a value of one type may also have the other. Only impossible links are refused: a value that may be null can
 * be linked to a required input, and is checked at run time.
 */
export function assignable(from: CwlType, to: CwlType): boolean {
  const sources = alternatives(from)
  const solid = sources.filter((one) => one.type !== 'null')
  return (solid.length === 0 ? sources : solid).some((source) => alternatives(to).some((sink) => fits(source, sink)))
}

function fits(from: CwlType, to: CwlType): boolean {
  if (from.type === 'Any' || to.type === 'Any') return from.type !== 'null' && to.type !== 'null'
  if (from.type === 'array' && to.type === 'array') return assignable(from.items, to.items)
  if (from.type === 'record' && to.type === 'record') {
    return to.fields.every((sink) => {
      const source = from.fields.find((one) => one.name === sink.name)
      return source === undefined
        ? alternatives(sink.type).some((one) => one.type === 'null')
        : assignable(source.type, sink.type)
    })
  }
  if (from.type === 'enum' && to.type === 'enum') return from.symbols.some((one) => to.symbols.includes(one))
  const isText = (type: CwlType): boolean => type.type === 'string' || type.type === 'enum'
  if (isText(from) && isText(to)) return true
  return from.type === to.type || (NUMBERS.has(from.type) && NUMBERS.has(to.type))
}

interface Link {
  readonly linkMerge?: LinkMerge
  readonly pickValue?: PickValue
}

/** The type that results from one or more sources. */
export function linkType(sources: readonly CwlType[], { linkMerge, pickValue }: Link): CwlType {
  const [only] = sources
  const merged =
    sources.length === 1 && only !== undefined && linkMerge === undefined
      ? only
      : arrayOf(unionOf(linkMerge === 'merge_flattened' ? sources.map(flattened) : sources))
  if (pickValue === undefined) return merged
  const lists = alternatives(merged).flatMap((one) => (one.type === 'array' ? [one.items] : []))
  const picked = lists.length === 0 ? primitive('Any') : notNull(unionOf(lists))
  return pickValue === 'all_non_null' ? arrayOf(picked) : picked
}

const flattened = (type: CwlType): CwlType =>
  unionOf(alternatives(type).map((one) => (one.type === 'array' ? one.items : one)))

function notNull(type: CwlType): CwlType {
  const solid = alternatives(type).filter((one) => one.type !== 'null')
  return solid.length === 0 ? type : unionOf(solid)
}
