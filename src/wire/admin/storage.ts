import { invalid } from '../../base/fault.ts'
import type { ReclaimGoal, ReclaimProgress, ReclaimRequest, StorageFigures } from '../../model/storage-figures.ts'
import * as proto from '../gen/windlass/storage/v1/storage.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** The messages of windlass.storage.v1.Storage. */
export const figuresToProto = ({ isReclaiming, ...figures }: StorageFigures): Uint8Array =>
  proto.FiguresResponse.encode({ ...figures, reclaiming: isReclaiming }).finish()

export function figuresFromProto(bytes: Uint8Array): StorageFigures {
  const named = { name: 'FiguresResponse', shape: numbers(11) }
  const { reclaiming, oldestTouchSeconds, ...figures } = decodeWellFormed(proto.FiguresResponse, bytes, named)
  return { ...figures, oldestTouchSeconds, isReclaiming: reclaiming }
}

export const figuresRequestToProto = (): Uint8Array => new Uint8Array(0)

/** The message has no fields yet, but its bytes must be well-formed. */
export const figuresRequestFromProto = (bytes: Uint8Array): void =>
  void decodeWellFormed(proto.FiguresRequest, bytes, { name: 'FiguresRequest', shape: {} })

export const reclaimRequestToProto = ({ goal, isDryRun }: ReclaimRequest): Uint8Array =>
  proto.ReclaimRequest.encode({
    toBytes: goal.kind === 'size' ? goal.toBytes : undefined,
    olderThanSeconds: goal.kind === 'age' ? goal.olderThanSeconds : undefined,
    dryRun: isDryRun,
  }).finish()

export function reclaimRequestFromProto(bytes: Uint8Array): ReclaimRequest {
  const from = decodeWellFormed(proto.ReclaimRequest, bytes, { name: 'ReclaimRequest', shape: numbers(3) })
  return { goal: goalOf(from), isDryRun: from.dryRun }
}

export const reclaimProgressToProto = ({ isDone, ...progress }: ReclaimProgress): Uint8Array =>
  proto.ReclaimProgress.encode({ ...progress, done: isDone }).finish()

export function reclaimProgressFromProto(bytes: Uint8Array): ReclaimProgress {
  const named = { name: 'ReclaimProgress', shape: numbers(7) }
  const { done, ...progress } = decodeWellFormed(proto.ReclaimProgress, bytes, named)
  return { ...progress, isDone: done }
}

/**
 * In protobuf the last of two goals wins. A client that sends both does not know which one applies, so both are
 * refused.
 */
function goalOf({ toBytes, olderThanSeconds }: proto.ReclaimRequest): ReclaimGoal {
  if (toBytes !== undefined && olderThanSeconds !== undefined)
    throw invalid('a reclaim request has two goals, but may have one')
  if (toBytes !== undefined) return { kind: 'size', toBytes: counted('to_bytes', toBytes) }
  if (olderThanSeconds === undefined) return { kind: 'waste' }
  return { kind: 'age', olderThanSeconds: counted('older_than_seconds', olderThanSeconds) }
}

function counted(field: string, value: number): number {
  if (value < 0) throw invalid(`${field} is negative`)
  return value
}

const numbers = (count: number): Shape =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [index + 1, 'number' as const]))
