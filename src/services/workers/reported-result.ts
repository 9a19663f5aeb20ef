import type { DigestFunction } from '../../base/digest.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { WorkerService } from '../../engine/worker-calls/worker-service.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { checkResult } from '../../storage/verification/result-check.ts'
import { checkOutputs } from '../../wire/hot/output-check.ts'
import { actionOfSpec, type EncodedTask, taskFromSpec } from '../../wire/tasks/task-spec.ts'
import { readActionTask } from '../execution/read-action.ts'
import type { Instances } from '../instances/instances.ts'

/** A result as a worker reported it. */
export interface ReportedResult {
  readonly worker: string
  readonly attemptId: string
  readonly bytes: Uint8Array
  readonly fn: DigestFunction
}

/** Throws `invalid` for a result that no client can use: the attempt has failed then, and the worker hears why. */
export type ReportCheck = (reported: ReportedResult) => Promise<void>

export interface ReportCheckOptions {
  readonly desk: Pick<WorkerService, 'held'>
  readonly instances: Instances
}

/**
 * Checks results of workers on every protocol. The paths of an action's outputs may climb as far as the command's working
 * directory lies below the root of the inputs: the client asked for such a path.
 */
export const reportCheck =
  ({ desk, instances }: ReportCheckOptions): ReportCheck =>
  async ({ worker, attemptId, bytes, fn }) => {
    const { climbs, inlined, directories } = checkOutputs(bytes, fn)
    if (climbs === 0 && inlined.length === 0 && directories.length === 0) return
    const held = await desk.held({ worker, attemptId })
    if (held === undefined) return // the attempt was superseded
    const { blobs } = instances(held.instance)
    const mayClimb = climbs > 0 && actionOfSpec(held) !== undefined ? await depthOf(held, blobs) : 0
    await checkResult(bytes, { fn, blobs, mayClimb })
  }

/** Depth of the working directory of an action's command. */
async function depthOf(held: EncodedTask, blobs: BlobStore): Promise<number> {
  try {
    const { task, actionDigest } = taskFromSpec(held) ?? {}
    const known = task ?? (actionDigest && (await readActionTask(actionDigest, blobs)).task)
    return known?.workingDirectory.split('/').filter((part) => part !== '' && part !== '.').length ?? 0
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    throw invalid(`an output path leads out of the working directory, which cannot be read: ${error.message}`)
  }
}
