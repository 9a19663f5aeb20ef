import { descend, keysOf, placeOf, problem, type SourcePlace } from '../values/place.ts'
import { resolveUri } from '../values/uri.ts'
import { isRecord, type Value, type ValueRecord } from '../values/value.ts'
import type { Documents } from './documents.ts'

const DEEPEST = 64

/**
 * Resolves `$import`, `$include` and `$mixin`. Imported nodes keep their source place, and with it the document that
 * their references are relative to.
 */
export async function expandDirectives(
  value: Value,
  documents: Documents,
  trail: readonly string[] = [],
): Promise<Value> {
  if (typeof value !== 'object' || value === null || !hasDirective(value)) return value
  if (isRecord(value)) return expandRecord(value, documents, trail)
  const list: Value[] = []
  for (const one of value) {
    const made = await expandDirectives(one, documents, trail)
    // Importing a list inside a list inserts its elements.
    if (Array.isArray(made) && isRecord(one) && '$import' in one) list.push(...made)
    else list.push(made)
  }
  return descend(list, value as object)
}

const hasDirective = (value: Value): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (!isRecord(value)) return value.some(hasDirective)
  return Object.entries(value).some(([key, one]) => /^\$(import|include|mixin)$/.test(key) || hasDirective(one))
}

async function expandRecord(record: ValueRecord, documents: Documents, trail: readonly string[]): Promise<Value> {
  if ('$import' in record) return imported(target(record, '$import'), documents, { trail, at: placeOf(record) })
  if ('$include' in record) return documents.text(target(record, '$include'), placeOf(record))
  const entries: [string, Value][] = []
  for (const key of keysOf(record)) {
    if (key !== '$mixin') entries.push([key, await expandDirectives(record[key] ?? null, documents, trail)])
  }
  if (!('$mixin' in record)) return descend(Object.fromEntries(entries), record)
  const mixed = await imported(target(record, '$mixin'), documents, { trail, at: placeOf(record, '$mixin') })
  if (!isRecord(mixed)) throw problem(placeOf(record, '$mixin'), '$mixin needs a document that is one record')
  return descend(Object.fromEntries([...Object.entries(mixed), ...entries]), record)
}

interface Asking {
  readonly trail: readonly string[]
  readonly at: SourcePlace | undefined
}

async function imported(uri: string, documents: Documents, { trail, at }: Asking): Promise<Value> {
  if (trail.includes(uri)) throw problem(at, `this imports itself: ${[...trail, uri].join(' → ')}`)
  if (trail.length > DEEPEST) throw problem(at, `imports nest deeper than ${DEEPEST} levels`)
  const content = await documents.part(uri, at)
  return expandDirectives(content, documents, [...trail, uri])
}

function target(record: ValueRecord, directive: '$import' | '$include' | '$mixin'): string {
  const reference = record[directive]
  const at = placeOf(record, directive)
  if (typeof reference !== 'string') throw problem(at, `${directive} needs the address of a document`)
  return resolveUri(at?.uri ?? '', reference)
}
