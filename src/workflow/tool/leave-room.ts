import { invalid } from '../../base/fault.ts'
import { type DataValue, isData, mapDataSlowly, withNames } from '../values/file-value.ts'
import type { Files } from '../values/files.ts'
import { escapePath, hasScheme } from '../values/uri.ts'
import { isList, isRecord, type Value } from '../values/value.ts'
import type { Staged } from './room.ts'

/** Maps paths of the room to locations outside. */
export interface WayOut {
  readonly outdir: string
  readonly outdirLocation: string
  readonly staged: readonly Staged[]
  /** Called when a tool names a location outside its working directory, which is rare. */
  readonly inputLocations: () => ReadonlySet<string>
}

/** Gives every File and Directory a location that is valid outside the room; the tool must be allowed to name it. */
export const leaveRoom = (value: Value, way: WayOut, files: Files): Promise<Value> =>
  mapDataSlowly(value, async (data) => {
    const placed = locate(data, way)
    if (typeof placed.location !== 'string') return withNames(placed)
    const stat = await files.stat(placed.location)
    if (stat === undefined)
      throw invalid(`${String(data.path ?? data.location)} is named as an output and is not there`)
    if (stat.class !== data.class) throw invalid(`${String(data.path ?? data.location)} is not a ${data.class}`)
    // The size and class on disk replace those that the tool states.
    return withNames({ ...placed, ...stat })
  })

function locate(data: DataValue, way: WayOut): DataValue {
  const { path, location } = data
  if (typeof location === 'string' && hasScheme(location) && isKnown(location, way)) return data
  const named =
    typeof path === 'string' ? path : typeof location === 'string' ? location.replace(/^file:\/\//, '') : undefined
  if (named === undefined) return data
  const whole = named.startsWith('/') ? named : `${way.outdir}/${named}`
  if (whole.split('/').includes('..')) throw invalid(`${named} is outside of the working directory`)
  if (whole === way.outdir) return { ...data, location: way.outdirLocation }
  if (whole.startsWith(`${way.outdir}/`)) {
    return { ...data, path: whole, location: `${way.outdirLocation}/${escapePath(whole.slice(way.outdir.length + 1))}` }
  }
  return fromInputs(data, whole, way)
}

/** A tool may return its inputs and files in them; other locations are refused. */
function isKnown(location: string, { outdirLocation, inputLocations }: WayOut): boolean {
  if (/(^|\/)(\.|%2e){2}(\/|$)/i.test(location)) return false
  if (location === outdirLocation || location.startsWith(`${outdirLocation}/`)) return true
  const known = inputLocations()
  for (let end = location.length; end > 0; end = location.lastIndexOf('/', end - 1)) {
    if (known.has(location.slice(0, end))) return true
  }
  return false
}

export function locationsIn(value: Value): readonly string[] {
  if (isList(value)) return value.flatMap(locationsIn)
  if (!isRecord(value)) return []
  const own = isData(value) && typeof value.location === 'string' ? [value.location] : []
  return [...own, ...Object.values(value).flatMap(locationsIn)]
}

function fromInputs(data: DataValue, path: string, { staged }: WayOut): DataValue {
  for (const one of staged) {
    if (one.path === path && one.kind === 'text') return { ...data, contents: one.contents } as DataValue
    if (one.path === path && 'location' in one) return { ...data, location: one.location }
    if (one.kind === 'tree' && path.startsWith(`${one.path}/`)) {
      return { ...data, location: `${one.location}/${escapePath(path.slice(one.path.length + 1))}` }
    }
  }
  throw invalid(`${path} is neither in the working directory nor an input`)
}
