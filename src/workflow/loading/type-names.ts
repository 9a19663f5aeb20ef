import type { Requirement } from '../process/process.ts'
import { placeOf } from '../values/place.ts'
import { resolveUri, shortName } from '../values/uri.ts'
import { isRecord, text, type ValueRecord } from '../values/value.ts'
import type { TypeNames } from './read-type.ts'

export const NO_NAMES: TypeNames = { find: () => undefined }

/** The names of SchemaDefRequirement, which override those of the enclosing workflow. */
export function schemaNames(requirements: readonly Requirement[], outer: TypeNames): TypeNames {
  const nodes = requirements
    .filter((one) => one.class === 'SchemaDefRequirement')
    .flatMap((one) => (Array.isArray(one.types) ? one.types : []))
    .flatMap((one) => (Array.isArray(one) ? one : [one]))
    .filter((one): one is ValueRecord => isRecord(one) && typeof one.name === 'string')
  if (nodes.length === 0) return outer
  const byUri = new Map<string, ValueRecord>()
  const byShortName = new Map<string, ValueRecord>()
  for (const node of nodes) {
    const name = text(node.name) ?? ''
    const base = placeOf(node)?.uri ?? ''
    byUri.set(name.includes('#') ? resolveUri(base, name) : `${base}#${name}`, node)
    byShortName.set(shortName(name), node)
  }
  const names: TypeNames = {
    find(uri) {
      const node = byUri.get(uri) ?? byShortName.get(shortName(uri))
      return node === undefined ? outer.find(uri) : { node, names }
    },
  }
  return names
}
