import type { Timestamp } from '../../model/timestamp.ts'
import type { Duration } from '../gen/google/protobuf/duration.ts'

/** The format requires that seconds and nanos have the same sign. */
export function durationToProto(ms: number): Duration {
  const totalMs = Math.trunc(ms)
  const nanos = (totalMs % 1000) * 1e6 + Math.round((ms - totalMs) * 1e6)
  const seconds = Math.trunc(totalMs / 1000) + Math.trunc(nanos / 1e9)
  return { seconds, nanos: nanos % 1e9 }
}

export const durationFromProto = (duration: Duration | undefined): number =>
  duration ? duration.seconds * 1000 + duration.nanos / 1e6 : 0

/**
 * A timestamp from milliseconds since 1970. A model Timestamp has the fields of the message and needs no conversion.
 */
export function timestampOf(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: Math.round((ms - seconds * 1000) * 1e6) }
}
