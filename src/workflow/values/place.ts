import { FaultError, type InvalidWhy } from '../../base/fault.ts'
import type { Value } from './value.ts'

/** A position in a document. Lines and columns count from one, as in editors. */
export interface SourcePlace {
  readonly uri: string
  readonly line: number
  readonly column: number
}

interface Origin {
  readonly at: SourcePlace
  /** In source order: objects would move keys that look like numbers to the front. */
  readonly keys: ReadonlyMap<string, SourcePlace>
}

/**
 * Documents are plain JSON and their places are kept in a WeakMap: every stage can report where a node was written
 * without unwrapping it. A place also names the document that a relative reference is relative to.
 */
const origins = new WeakMap<object, Origin>()

export const remember = <T extends object>(node: T, at: SourcePlace, keys: ReadonlyMap<string, SourcePlace>): T => {
  origins.set(node, { at, keys })
  return node
}

/** A node that was derived from `from` has the same place. */
export const descend = <T extends object>(node: T, from: object): T => {
  const origin = origins.get(from)
  if (origin !== undefined && !origins.has(node)) origins.set(node, origin)
  return node
}

export function placeOf(node: Value | object | undefined, key?: string | number): SourcePlace | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  const origin = origins.get(node)
  return key === undefined ? origin?.at : (origin?.keys.get(String(key)) ?? origin?.at)
}

export const keysOf = (node: object): readonly string[] => {
  const known = origins.get(node)?.keys
  const own = Object.keys(node)
  if (known === undefined) return own
  const ordered = [...known.keys()].filter((key) => Object.hasOwn(node, key))
  return ordered.length === own.length ? ordered : [...ordered, ...own.filter((key) => !known.has(key))]
}

const placeText = (at: SourcePlace): string => `${at.uri}:${at.line}:${at.column}`

/** An error in a document, with its place. */
export const problem = (at: SourcePlace | undefined, what: string, why?: InvalidWhy): FaultError => {
  const words = at === undefined ? what : `${placeText(at)}: ${what}`
  return new FaultError(why === undefined ? { kind: 'invalid', what: words } : { kind: 'invalid', what: words, why })
}
