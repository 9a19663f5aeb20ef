import {
  Action,
  ActionResult,
  Command,
  type DeepPartial,
  Directory,
  Tree,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Blob } from './blob.ts'
import type { Probe } from './probe.ts'

/** A new action with its command in the CAS, which the specification requires before a result is stored. */
export async function storedAction({ random, blobOf, put }: Probe): Promise<{ action: Blob; command: Blob }> {
  const command = await put(blobOf(commandBytes({ arguments: ['true', random.word()] })))
  const root = await put(blobOf(encodedDirectory({ files: [{ name: random.word(), digest: command.digest }] })))
  const parts = { commandDigest: command.digest, inputRootDigest: root.digest, salt: random.bytes(8) }
  return { action: await put(blobOf(Action.encode(Action.fromPartial(parts)).finish())), command }
}

const commandBytes = (parts: DeepPartial<Command>): Uint8Array => Command.encode(Command.fromPartial(parts)).finish()

export const encodedDirectory = (parts: DeepPartial<Directory>): Uint8Array =>
  Directory.encode(Directory.fromPartial(parts)).finish()

export const encodedTree = (parts: DeepPartial<Tree>): Uint8Array => Tree.encode(Tree.fromPartial(parts)).finish()

/** A result with a worker's name, so that it is never an empty message. */
export const resultFrom = (parts: DeepPartial<ActionResult>): ActionResult =>
  ActionResult.fromPartial({ executionMetadata: { worker: 'conformance' }, ...parts })

/** Stores a result for a new action and returns the digest of that action. */
export async function storedResult(probe: Probe, parts: DeepPartial<ActionResult>) {
  const { action } = await storedAction(probe)
  const answer = await probe.api.updateResult({ actionDigest: action.digest, actionResult: resultFrom(parts) })
  return { actionDigest: action.digest, answer }
}
