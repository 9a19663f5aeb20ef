import { type Digest, digestFunctionByHexLength } from '../../base/digest.ts'
import { parseDigest } from '../../base/digest-text.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { actionFromProto } from '../../wire/reapi/execution-action.ts'
import { ACTION_ORIGIN, type DecodedSpec, taskFromMessages, taskFromSpec } from '../../wire/tasks/task-spec.ts'
import type { LeaseMessage } from '../../wire/workers/lease.ts'
import { fetchBlob } from '../cas/fetch-blob.ts'
import type { BlobSource } from '../inputs/blob-source.ts'

export type EncodedLease = Pick<LeaseMessage, 'origin' | 'spec' | 'actionDigest'>

/** The task of a lease. The messages of an action that are too large for a lease are read from the store. */
export async function taskOfLease(lease: EncodedLease, source: BlobSource, signal: AbortSignal): Promise<CommandTask> {
  const { task, actionDigest } = decodedSpec(lease)
  return task ?? (await fetchedActionTask(actionDigest, source, signal))
}

/** The task of an action whose messages are in the store. Throws `missing`. */
export async function fetchedActionTask(
  actionDigest: Digest,
  source: BlobSource,
  signal: AbortSignal,
): Promise<CommandTask> {
  const action = await fetchBlob(source, actionDigest, signal)
  const command = await fetchBlob(source, actionFromProto(action, actionDigest.fn).commandDigest, signal)
  return taskFromMessages(actionDigest, { action, command })
}

function decodedSpec(lease: EncodedLease): DecodedSpec {
  const { origin, spec } = lease
  if (origin === ACTION_ORIGIN && spec.length === 0) return { task: undefined, actionDigest: actionOnly(lease) }
  const decoded = taskFromSpec(lease)
  if (decoded !== undefined) return decoded
  const what = `this worker knows nothing of tasks from ${origin.slice(0, 100)}`
  throw new FaultError({ kind: 'unavailable', what })
}

/** A server that speaks the seeds' protocol alone sends no spec, but the digest of an action. */
function actionOnly({ actionDigest }: EncodedLease): Digest {
  const fn = digestFunctionByHexLength(actionDigest.indexOf('/'))
  if (fn === undefined) throw invalid(`${JSON.stringify(actionDigest.slice(0, 200))} is not the digest of an action`)
  return parseDigest(actionDigest, fn)
}
