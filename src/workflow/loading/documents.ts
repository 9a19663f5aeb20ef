import { problem, type SourcePlace } from '../values/place.ts'
import { documentOf, shortName, uriFragment } from '../values/uri.ts'
import { isRecord, type Value } from '../values/value.ts'
import type { Fetch } from './fetch.ts'
import { readJsonDocument } from './json-document.ts'

/** Documents by address; each is fetched and parsed once. */
export interface Documents {
  text(uri: string, asked: SourcePlace | undefined): Promise<string>
  whole(uri: string, asked: SourcePlace | undefined): Promise<Value>
  /** The document with its directives resolved. */
  expanded(uri: string, asked: SourcePlace | undefined): Promise<Value>
  /** With a fragment: the record of that id, anywhere in the document. */
  part(uri: string, asked: SourcePlace | undefined): Promise<Value>
}

/** Resolves the directives in a value that was read from `trail`. */
type Expand = (value: Value, documents: Documents, trail: readonly string[]) => Promise<Value>

export function documentsFrom(fetch: Fetch, expand: Expand): Documents {
  const texts = new Map<string, Promise<string>>()
  const values = new Map<string, Promise<Value>>()
  const text: Documents['text'] = (uri, asked) => {
    const known = texts.get(uri)
    if (known !== undefined) return known
    const coming = fetch(uri).catch((cause: unknown) => {
      throw problem(asked, `${uri} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`)
    })
    texts.set(uri, coming)
    return coming
  }
  const whole: Documents['whole'] = (uri, asked) => {
    const address = documentOf(uri)
    const known = values.get(address)
    if (known !== undefined) return known
    const coming = text(address, asked).then((words) => readDocument(words, address))
    values.set(address, coming)
    return coming
  }
  const ready = new Map<string, Promise<Value>>()
  const documents: Documents = {
    text,
    whole,
    expanded(uri, asked) {
      const address = documentOf(uri)
      const coming = ready.get(address) ?? whole(uri, asked).then((value) => expand(value, documents, [address]))
      ready.set(address, coming)
      return coming
    },
    async part(uri, asked) {
      const value = await whole(uri, asked)
      const fragment = uriFragment(uri)
      if (fragment === undefined || fragment === '') return value
      const found = findById(value, fragment)
      if (found === undefined) throw problem(asked, `${documentOf(uri)} has nothing with the id #${fragment}`)
      return found
    },
  }
  return documents
}

/** Loading the YAML parser takes longer than parsing most documents, and many are JSON. */
async function readDocument(text: string, uri: string): Promise<Value> {
  const value = readJsonDocument(text, uri)
  if (value !== undefined) return value
  const { readYaml } = await import('./yaml-document.ts')
  return readYaml(text, uri)
}

/** Returns the record whose `id` or `name` is the fragment: exactly, or by its last part. */
export function findById(value: Value, fragment: string): Value | undefined {
  const matches = (id: Value | undefined, exact: boolean): boolean =>
    typeof id === 'string' &&
    (exact ? id.replace(/^.*#/s, '') === fragment : shortName(id) === shortName(`#${fragment}`))
  const search = (node: Value, exact: boolean): Value | undefined => {
    if (typeof node !== 'object' || node === null) return undefined
    if (isRecord(node) && (matches(node.id, exact) || matches(node.name, exact))) return node
    for (const one of Object.values(node)) {
      const found = search(one, exact)
      if (found !== undefined) return found
    }
    return undefined
  }
  return search(value, true) ?? search(value, false)
}
