import type { Digest } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { CommandTask } from '../../model/command-task.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { readWhole } from '../../storage/read-whole.ts'
import { type Action, actionFromProto, commandFromProto } from '../../wire/reapi/execution-action.ts'
import { taskOfAction } from '../../wire/reapi/execution-command.ts'
import { type InputTreeLimits, missingInputs } from './missing-inputs.ts'

/** A client may name a blob of any size as an action. */
const MOST_ACTION_BYTES = 1024 * 1024
const MOST_COMMAND_BYTES = 16 * 1024 * 1024

/** An action of a client, decoded once; the task is undefined when the Command message is missing. */
export interface FoundAction {
  readonly action: Action
  readonly task: CommandTask | undefined
}

/** Reads the Action and Command messages of a client. Throws `missing` when there is no Action. */
export async function readActionTask(digest: Digest, blobs: BlobStore): Promise<FoundAction> {
  const { bytes, ...action } = await readAction(digest, blobs)
  const encoded = await readBlob(action.commandDigest, blobs, { what: 'command', most: MOST_COMMAND_BYTES })
  const messages = encoded && { action: bytes, command: encoded }
  return { action, task: messages && taskOfAction({ digest, action, command: commandFromProto(encoded), messages }) }
}

export async function readAction(actionDigest: Digest, blobs: BlobStore): Promise<Action & { bytes: Uint8Array }> {
  const bytes = await readBlob(actionDigest, blobs, { what: 'action', most: MOST_ACTION_BYTES })
  if (bytes === undefined) throw missing([actionDigest])
  return { ...actionFromProto(bytes, actionDigest.fn), bytes }
}

async function readBlob(
  digest: Digest,
  blobs: BlobStore,
  { what, most }: { what: string; most: number },
): Promise<Uint8Array | undefined> {
  if (digest.size > most) throw invalid(`the ${what} has ${digest.size} bytes, and may have ${most}`)
  const [bytes] = await readWhole(digestListOf(digest.fn, [digest]), blobs)
  return bytes
}

/** All blobs that an action needs and that are missing, the action itself included. */
export async function missingForAction(
  actionDigest: Digest,
  blobs: BlobStore,
  limits: InputTreeLimits,
): Promise<Digest[]> {
  const [bytes] = await readWhole(digestListOf(actionDigest.fn, [actionDigest]), blobs)
  if (bytes === undefined) return [actionDigest]
  const { commandDigest, inputRootDigest } = actionFromProto(bytes, actionDigest.fn)
  return missingInputs([commandDigest], inputRootDigest, { blobs, limits })
}

export const missing = (digests: readonly Digest[]): FaultError => new FaultError({ kind: 'missing', digests })
