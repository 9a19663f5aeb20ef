import type { Digest } from '../../base/digest.ts'
import { type CommandTask, isCommandOrigin } from '../../model/command-task.ts'
import { actionFromProto, commandFromProto } from '../reapi/execution-action.ts'
import { taskOfAction } from '../reapi/execution-command.ts'
import { type ActionSpec, actionSpecFromProto, actionSpecToProto } from './action-spec.ts'
import { commandTaskFromProto, commandTaskToProto } from './command-task.ts'

/**
 * The spec is the encoded form of a task in the journal and in leases. An action is encoded as the client's own messages
 * (`ActionSpec`), every other task as a `CommandTask`. Servers and workers of the last release write and read both, so
 * that this file is the only place that distinguishes them.
 */
export const ACTION_ORIGIN = 'action'

export interface EncodedTask {
  /** The name of the door: `action`, or one of COMMAND_ORIGINS. */
  readonly origin: string
  readonly spec: Uint8Array
}

export const taskToSpec = (task: CommandTask): Uint8Array =>
  task.action === undefined
    ? commandTaskToProto(task)
    : actionSpecToProto({ actionDigest: task.action.digest, inline: task.action.messages })

/** A task, or the digest of an action whose messages are too large for a spec: they are read from the store. */
export type DecodedSpec =
  | { readonly task: CommandTask; readonly actionDigest: Digest | undefined }
  | { readonly task: undefined; readonly actionDigest: Digest }

/** Undefined for an origin that this version does not know. Throws `invalid` for bytes that are no task. */
export function taskFromSpec({ origin, spec }: EncodedTask): DecodedSpec | undefined {
  if (isCommandOrigin(origin)) return { task: commandTaskFromProto(spec), actionDigest: undefined }
  if (origin !== ACTION_ORIGIN) return undefined
  const { actionDigest, inline } = actionSpecFromProto(spec)
  return inline === undefined
    ? { task: undefined, actionDigest }
    : { task: taskFromMessages(actionDigest, inline), actionDigest }
}

/** The task of an action, from the client's own messages. */
export function taskFromMessages(
  digest: Digest,
  messages: { readonly action: Uint8Array; readonly command: Uint8Array },
): CommandTask {
  const action = actionFromProto(messages.action, digest.fn)
  return taskOfAction({ digest, action, command: commandFromProto(messages.command), messages })
}

/** The digest and the client's messages, which are not decoded. Undefined for a task that is no action. */
export const actionOfSpec = ({ origin, spec }: EncodedTask): ActionSpec | undefined =>
  origin === ACTION_ORIGIN ? actionSpecFromProto(spec) : undefined
