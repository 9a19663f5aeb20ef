import { descend, placeOf } from '../values/place.ts'
import { escapePath, resolveUri } from '../values/uri.ts'
import { isRecord, type Value } from '../values/value.ts'

/**
 * Makes locations of a document or an input object absolute, relative to the file that contains them; a `path` is a
 * location without escapes.
 */
export function resolveLocations(value: Value, base: string): Value {
  if (Array.isArray(value)) return value.map((one) => resolveLocations(one, base))
  if (!isRecord(value)) return value
  const home = placeOf(value)?.uri ?? base
  const entries = Object.entries(value).map(([key, one]): [string, Value] => [key, resolveLocations(one, home)])
  const made = Object.fromEntries(entries)
  if (made.class !== 'File' && made.class !== 'Directory') return descend(made, value)
  const { path, ...rest } = made
  if (typeof made.location === 'string') return { ...rest, location: resolveUri(home, made.location) }
  if (typeof path !== 'string') return made
  return { ...rest, location: resolveUri(home, escapePath(path)) }
}
