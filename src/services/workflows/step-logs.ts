import { FaultError } from '../../base/fault.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Caller } from '../../model/caller.ts'
import type { StageStream } from '../../model/command-task.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { commandResultOf } from '../execution/task-request.ts'
import { plainBlobs } from './driver/tree-blobs.ts'

export interface StepLogs {
  readonly stdout: string
  readonly stderr: string
  /** Bytes that were dropped from the middle of both. */
  readonly dropped: number
}

/** Limit of each stream; a longer one is cut at its beginning. */
const MOST_BYTES = 1024 * 1024

/** The output of an ended step. */
export async function stepLogs(
  caller: Caller,
  operation: string,
  { engine, blobs }: { readonly engine: Pick<Engine, 'find'>; readonly blobs: BlobStore },
): Promise<StepLogs> {
  const status = await engine.find(caller, operation)
  const result = status && commandResultOf(status)
  const stage = result?.stages.at(-1)
  if (stage === undefined) throw new FaultError({ kind: 'absent', what: 'the step has printed nothing that is kept' })
  const textOf = async ({ inline, digest }: StageStream): Promise<string> => {
    const bytes = inline ?? (digest && (await plainBlobs(blobs).read(digest, digest.size))) ?? new Uint8Array()
    return Buffer.from(bytes.subarray(Math.max(0, bytes.length - MOST_BYTES))).toString()
  }
  return {
    stdout: await textOf(stage.stdout),
    stderr: await textOf(stage.stderr),
    dropped: stage.stdout.droppedBytes + stage.stderr.droppedBytes,
  }
}
