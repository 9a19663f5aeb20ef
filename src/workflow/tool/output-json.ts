import { invalid } from '../../base/fault.ts'
import type { Files } from '../values/files.ts'
import { isRecord, type Value, type ValueRecord } from '../values/value.ts'
import type { WayOut } from './leave-room.ts'

const LARGEST = 64 << 20

/** `cwl.output.json`: a command that says itself what its outputs are. No 64 KiB here; memory is the limit. */
export async function readOutputJson(way: WayOut, files: Files): Promise<ValueRecord | undefined> {
  const location = `${way.outdirLocation}/cwl.output.json`
  const stat = await files.stat(location)
  if (stat?.class !== 'File') return undefined
  if (stat.size > LARGEST) throw invalid(`cwl.output.json is larger than ${LARGEST >> 20} MiB`)
  const text = new TextDecoder().decode(await files.read(location, stat.size))
  let value: Value
  try {
    value = JSON.parse(text) as Value
  } catch (cause) {
    throw invalid(`cwl.output.json is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  if (!isRecord(value)) throw invalid('cwl.output.json must hold one object')
  return value
}
