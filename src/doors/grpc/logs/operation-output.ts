import { FaultError, invalid } from '../../../base/fault.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { OutputListener } from '../../../engine/tasks/output-ring.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { OutputStream } from '../../../model/action-result.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import { StreamPosition } from '../../../services/logs/output-place.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { actionResultFromProto } from '../../../wire/reapi/action-result.ts'
import { actionOfSpec } from '../../../wire/tasks/task-spec.ts'
import { type Audience, leftOut } from './audience.ts'

export interface OutputTools {
  readonly engine: Engine
  readonly instances: Instances
}

export interface OutputWanted {
  readonly stream: 'stdout' | 'stderr'
  /** Offset of the first byte. */
  readonly offset: number
}

/**
 * Sends the output of an operation while it runs, and after its end the output in its result. The engine holds the
 * newest live output only: a reader that starts at 0 is sent the number of lost bytes, a reader that starts at a lost
 * offset gets OUT_OF_RANGE. A slow reader is also sent the number of missed bytes.
 */
export async function streamOutput(
  status: OperationStatus,
  wanted: OutputWanted,
  { to, tools }: { to: Audience; tools: OutputTools },
): Promise<void> {
  const { engine, instances } = tools
  const listener =
    status.end === undefined ? await engine.listenOutput(LOCAL_CALLER, status.operation, to.wake) : undefined
  const from = listener === undefined ? wanted.offset : await follow(listener, wanted, to)
  if (from === undefined) return
  const newest = await ended(status, engine)
  const output = outputOf(newest, wanted.stream)
  const length = output.raw?.length ?? output.digest?.size ?? 0
  if (listener === undefined && newest.end?.result !== undefined && from > length)
    throw invalid(`read_offset ${from} is past the end of ${length} bytes`, 'range')
  if (from >= length) return
  if (output.raw !== undefined) await to.send(output.raw.subarray(from))
  else if (output.digest !== undefined)
    await sendBlob({ digest: output.digest, from, blobs: instances(status.instance).blobs }, to)
}

/**
 * Sends the output until the task has ended. Returns the offset that the reader has reached; undefined when it gets no
 * more.
 */
async function follow(
  listener: OutputListener,
  { stream, offset }: OutputWanted,
  to: Audience,
): Promise<number | undefined> {
  const place = new StreamPosition(stream, offset)
  let isFirst = true
  try {
    for (;;) {
      const piece = listener.next()
      if (piece === undefined && listener.isEnded) return place.wanted
      if (piece === undefined) await to.more()
      const taken = piece && place.take(piece)
      if (taken === undefined) continue
      if (taken.missed > 0 && isFirst && offset > 0) throw invalid(`byte ${offset} is no longer kept`, 'range')
      isFirst = false
      if (taken.missed > 0 && !(await to.send(leftOut(taken.missed)))) return undefined
      if (!(await to.send(taken.bytes))) return undefined
    }
  } finally {
    listener.close()
  }
}

/** The task may have ended just now. */
async function ended(status: OperationStatus, engine: Engine): Promise<OperationStatus> {
  const newest = status.end === undefined ? await engine.find(LOCAL_CALLER, status.operation) : status
  if (newest?.end === undefined)
    throw new FaultError({ kind: 'unavailable', what: 'the output of this operation is not available yet: retry' })
  return newest
}

const NOTHING: OutputStream = { raw: undefined, digest: undefined }

function outputOf({ end, origin, spec }: OperationStatus, stream: OutputWanted['stream']): OutputStream {
  if (end?.result === undefined) return NOTHING
  try {
    return actionResultFromProto(end.result, actionOfSpec({ origin, spec })?.actionDigest.fn ?? 'sha256')[stream]
  } catch (error) {
    // A worker may send an unreadable result: then there is no output.
    if (error instanceof FaultError) return NOTHING
    throw error
  }
}

interface BlobRange {
  readonly digest: NonNullable<OutputStream['digest']>
  readonly from: number
  readonly blobs: BlobStore
}

/** About the size of one piece that stores return. */
const PIECE_BYTES = 640 * 1024

async function sendBlob({ digest, from, blobs }: BlobRange, to: Audience): Promise<void> {
  await to.call.room(PIECE_BYTES)
  const reader = await blobs.read(digest, { offset: from }, to.call.signal)
  if (reader === undefined) throw new FaultError({ kind: 'absent', what: 'the output is no longer kept' })
  for await (const piece of reader.pieces) {
    if (!(await to.send(piece))) return
    await to.sent() // the store reads the next piece into the same buffer
    await to.call.room(PIECE_BYTES)
  }
}
