import type { Digest } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import {
  type Action,
  type ActionCommand,
  actionFromProto,
  commandFromProto,
} from '../../wire/reapi/execution-action.ts'
import { readWhole } from '../../storage/read-whole.ts'
import { missingInputs, type TreeLimits } from './missing-inputs.ts'

/** Anybody may name a blob of any size as an action: what is read into memory has a limit. */
const MOST_ACTION_BYTES = 1024 * 1024
const MOST_COMMAND_BYTES = 16 * 1024 * 1024

/** What is to be run, as its client stored it and as we understand it. */
export interface Work {
  readonly actionDigest: Digest
  readonly action: Action
  readonly command: ActionCommand
  /** The client's own bytes. */
  readonly inline: { readonly action: Uint8Array; readonly command: Uint8Array }
}

export async function readAction(actionDigest: Digest, blobs: BlobStore): Promise<Action & { bytes: Uint8Array }> {
  const bytes = await readBlob(actionDigest, blobs, { what: 'action', most: MOST_ACTION_BYTES })
  if (bytes === undefined) throw missing([actionDigest])
  return { ...actionFromProto(bytes, actionDigest.fn), bytes }
}

/** Undefined when the command is not there; then what else is missing should be told with it. */
export async function readCommand(
  { commandDigest }: Action,
  blobs: BlobStore,
): Promise<{ command: ActionCommand; bytes: Uint8Array } | undefined> {
  const bytes = await readBlob(commandDigest, blobs, { what: 'command', most: MOST_COMMAND_BYTES })
  return bytes && { command: commandFromProto(bytes), bytes }
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

/** Everything that an action needs and that is not there, the action itself included. */
export async function missingForAction(actionDigest: Digest, blobs: BlobStore, limits: TreeLimits): Promise<Digest[]> {
  const [bytes] = await readWhole(digestListOf(actionDigest.fn, [actionDigest]), blobs)
  if (bytes === undefined) return [actionDigest]
  const { commandDigest, inputRootDigest } = actionFromProto(bytes, actionDigest.fn)
  return missingInputs([commandDigest], inputRootDigest, { blobs, limits })
}

export const missing = (digests: readonly Digest[]): FaultError => new FaultError({ kind: 'missing', digests })
