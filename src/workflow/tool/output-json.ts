import { type FaultError, invalid } from '../../base/fault.ts'
import type { Files } from '../values/files.ts'
import { isRecord, type Value, type ValueRecord } from '../values/value.ts'
import type { WayOut } from './leave-room.ts'

/**
 * Reads `cwl.output.json`, in which a command lists its own outputs. The limit of 64 KiB for `loadContents` does not
 * apply to it (CWL v1.2, 5.3.3); the operator sets a limit, because parsing takes many times its size in memory.
 */
export async function readOutputJson(way: WayOut, files: Files, mostBytes: number): Promise<ValueRecord | undefined> {
  const location = `${way.outdirLocation}/cwl.output.json`
  const stat = await files.stat(location)
  if (stat?.class !== 'File') return undefined
  if (stat.size > mostBytes) throw tooLarge(stat.size, mostBytes)
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

const tooLarge = (size: number, mostBytes: number): FaultError =>
  invalid(
    `cwl.output.json has ${size} bytes; the limit is ${mostBytes} (cwl.max_json_bytes): write large data to a file, and name that file as an output`,
  )
