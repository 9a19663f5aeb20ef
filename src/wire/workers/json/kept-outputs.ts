import { invalid } from '../../../base/fault.ts'
import type { ExecutedActionMetadata } from '../../../model/action-result.ts'

type Auxiliary = ExecutedActionMetadata['auxiliary'][number]

const TYPE = 'windlass.worker.v1/outputs.json'
const MOST_BYTES = 256 * 1024

/**
 * Encodes outputs that stay on the worker's side: the worker reports where they are, and the server has no blobs of
 * them. Their description is added to the result as the worker sent it. Contents that the worker sent are stored as
 * blobs and left out here.
 */
export function keptOutputs(outputs: Readonly<Record<string, unknown>>): Auxiliary {
  const text = JSON.stringify(outputs, (key, value: unknown) =>
    key === 'contents' && typeof value === 'string' ? undefined : value,
  )
  const value = Buffer.from(text)
  if (value.length > MOST_BYTES) throw invalid(`outputs: they take ${value.length} bytes, and ${MOST_BYTES} at most`)
  return { typeUrl: TYPE, value }
}

/** Returns the outputs that `keptOutputs` encoded; undefined when there are none. */
export function keptOutputsOf({ auxiliary }: ExecutedActionMetadata): Readonly<Record<string, unknown>> | undefined {
  const kept = auxiliary.find(({ typeUrl }) => typeUrl === TYPE)
  return kept && JSON.parse(Buffer.from(kept.value).toString())
}
