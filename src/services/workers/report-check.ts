import { FaultError, invalid } from '../../base/fault.ts'
import type { WorkerService } from '../../engine/workers/worker-service.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { checkContents } from '../../storage/verification/result-check.ts'
import type { CheckedOutputs } from '../../wire/hot/output-check.ts'
import { actionOfSpec, type EncodedTask, taskFromSpec } from '../../wire/tasks/task-spec.ts'
import { readActionTask } from '../execution/execute-action.ts'
import type { Instances } from '../instances/instances.ts'

/** The outputs of a result that a worker reported. */
export interface ReportedResult {
  readonly worker: string
  readonly attemptId: string
  readonly outputs: CheckedOutputs
}

/**
 * Called for a result with inline content, output directories or paths that contain `..`. Throws `invalid` when no
 * client can use it: the attempt then fails, and so does the worker's call.
 */
export type ReportCheck = (reported: ReportedResult) => Promise<void>

export interface ReportCheckOptions {
  readonly service: Pick<WorkerService, 'held'>
  readonly instances: Instances
}

/**
 * Checks the results of workers of every protocol. An output path of an action may go up as many levels as the working
 * directory is below the root of the inputs, because the client requested such a path.
 */
export const reportCheck =
  ({ service, instances }: ReportCheckOptions): ReportCheck =>
  async ({ worker, attemptId, outputs }) => {
    const held = await service.held({ worker, attemptId })
    if (held === undefined) return // the attempt was superseded
    const { blobs } = instances(held.instance)
    const mayClimb = outputs.climbs > 0 && actionOfSpec(held) !== undefined ? await depthOf(held, blobs) : 0
    await checkContents(outputs, { blobs, mayClimb })
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
