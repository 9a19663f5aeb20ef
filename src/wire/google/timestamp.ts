import { invalid } from '../../base/fault.ts'
import type { Timestamp } from '../../model/timestamp.ts'
import type { Timestamp as TimestampProto } from '../gen/google/protobuf/timestamp.ts'
import type { Shape } from '../messages/well-formed.ts'

/** The first second of the year 1, and the last of the year 9999: what the format can say. */
const MIN_SECONDS = -62_135_596_800
const MAX_SECONDS = 253_402_300_799

export const TIMESTAMP_SHAPE: Shape = { 1: 'number', 2: 'number' }

export const timestampToProto = ({ seconds, nanos }: Timestamp): TimestampProto => ({ seconds, nanos })

export function timestampFromProto({ seconds, nanos }: TimestampProto): Timestamp {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) throw invalid(`a timestamp has ${seconds} seconds`)
  if (nanos < 0 || nanos > 999_999_999) throw invalid(`a timestamp has ${nanos} nanos`)
  return { seconds, nanos }
}
