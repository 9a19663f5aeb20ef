import { concurrencyLimit } from '../../client/cas/concurrency-limit.ts'
import { type DataValue, mapData } from '../../workflow/values/file-value.ts'
import type { ValueRecord } from '../../workflow/values/value.ts'

const AT_ONCE = 16

/**
 * Transfers all files that a value names, several at a time and each once; returns the value with the new locations.
 */
export async function relocated(
  value: ValueRecord,
  move: (location: string, data: DataValue) => Promise<string>,
  change: (data: DataValue, to: string) => DataValue = (data, location) => ({ ...data, location }) as DataValue,
): Promise<ValueRecord> {
  const named = new Map<string, DataValue>()
  mapData(value, (data) => {
    if (typeof data.location === 'string') named.set(data.location, data)
    return data
  })
  const moved = new Map<string, string>()
  const busy = concurrencyLimit(AT_ONCE)
  for (const [location, data] of named)
    await busy.start(async () => {
      moved.set(location, await move(location, data))
    })
  await busy.done()
  return mapData(value, (data) => {
    const to = typeof data.location === 'string' ? moved.get(data.location) : undefined
    return to === undefined ? data : change(data, to)
  }) as ValueRecord
}
