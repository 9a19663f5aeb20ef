import { invalid } from '../../../base/fault.ts'
import type { ExecutedActionMetadata } from '../../../model/action-result.ts'

type Auxiliary = ExecutedActionMetadata['auxiliary'][number]

const TYPE = 'windlass.worker.v1/outputs.json'
const MOST_BYTES = 256 * 1024

/**
 * Outputs that a worker left where it wants them, and says where that is: we have no blob for them, so they go along
 * with the result in the worker's own words. Contents that it sent are blobs, and are left out.
 */
export function keptOutputs(outputs: Readonly<Record<string, unknown>>): Auxiliary {
  const text = JSON.stringify(outputs, (key, value: unknown) =>
    key === 'contents' && typeof value === 'string' ? undefined : value,
  )
  const value = Buffer.from(text)
  if (value.length > MOST_BYTES) throw invalid(`outputs: they take ${value.length} bytes, and ${MOST_BYTES} at most`)
  return { typeUrl: TYPE, value }
}

/** What a worker said so, if it did. */
export function keptOutputsOf({ auxiliary }: ExecutedActionMetadata): Readonly<Record<string, unknown>> | undefined {
  const kept = auxiliary.find(({ typeUrl }) => typeUrl === TYPE)
  return kept && JSON.parse(Buffer.from(kept.value).toString())
}
