import { invalid } from '../../base/fault.ts'
import type { PickValue, Sink } from '../process/process.ts'
import { isList, type Value } from '../values/value.ts'

/** Merges the values of a link's sources and applies `pickValue`. */
export function gatherSources(sink: Sink, valueAt: (source: string) => Value, what: string): Value {
  const values = sink.sources.map(valueAt)
  const [only] = values
  const isMerged = sink.sources.length > 1 || sink.linkMerge !== undefined
  const merged = isMerged ? merge(values, sink.linkMerge === 'merge_flattened') : (only ?? null)
  return sink.pickValue === undefined ? merged : pick(merged, sink.pickValue, what)
}

const merge = (values: readonly Value[], flat: boolean): Value =>
  flat ? values.flatMap((one) => (isList(one) ? one : [one])) : values

function pick(value: Value, how: PickValue, what: string): Value {
  if (!isList(value)) return value
  const solid = value.filter((one) => one !== null)
  if (how === 'all_non_null') return solid
  const [first] = solid
  if (first === undefined) throw invalid(`all sources of ${what} are null`)
  if (how === 'the_only_non_null' && solid.length > 1)
    throw invalid(`${solid.length} sources of ${what} are not null, and only one may be`)
  return first
}
