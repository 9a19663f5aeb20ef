import type { Duration } from '../gen/google/protobuf/duration.ts'

/** Seconds and nanos carry the same sign, as the format demands. */
export function durationToProto(ms: number): Duration {
  const totalMs = Math.trunc(ms)
  const nanos = (totalMs % 1000) * 1e6 + Math.round((ms - totalMs) * 1e6)
  const seconds = Math.trunc(totalMs / 1000) + Math.trunc(nanos / 1e9)
  return { seconds, nanos: nanos % 1e9 }
}

export const durationFromProto = (duration: Duration | undefined): number =>
  duration ? duration.seconds * 1000 + duration.nanos / 1e6 : 0
