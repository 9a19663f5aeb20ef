import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { type CommandTask, isCommandOrigin } from '../../model/command-task.ts'
import {
  DIGEST_SHAPE,
  digestFromProto,
  digestFunctionNumber,
  digestFunctionOf,
  digestToProto,
} from '../digests/digest.ts'
import { ActionSpec as ActionSpecProto } from '../gen/windlass/task/v1/task.ts'
import { PendingDigest } from '../hot/digest-reader.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { encoded } from '../messages/message-writer.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'
import { taskFromMessages } from '../reapi/action.ts'
import { commandTaskFromProto, commandTaskToProto } from './command-task.ts'

/**
 * The spec is the encoded form of a task in the journal and in leases. An action is encoded as the client's own
 * messages (`ActionSpec`), every other task as a `CommandTask`. Servers and workers of the last release write and read
 * both, so that this file is the only place that distinguishes them.
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

/** The digest and the client's messages, which are not decoded. Undefined for a task that is no action. */
export const actionOfSpec = ({ origin, spec }: EncodedTask): ActionSpec | undefined =>
  origin === ACTION_ORIGIN ? actionSpecFromProto(spec) : undefined

/**
 * The digest of an action as `hash/size`, without decoding the other fields. Undefined for a task that is no action.
 */
export function actionDigestText({ origin, spec }: EncodedTask): string | undefined {
  if (origin !== ACTION_ORIGIN) return undefined
  const reader = new MessageReader(spec, SPEC.name)
  const digest = new PendingDigest()
  while (reader.next()) {
    if (reader.field === 2) digest.merge(reader)
    else reader.skip()
  }
  return formatDigest(digest.digest(reader, 0, 'sha256'))
}

/** The spec of a task of origin `action`. */
export interface ActionSpec {
  /** All digests in the action have the digest function of this one. */
  readonly actionDigest: Digest
  /** The client's messages; undefined when they are too large for a spec, and the worker reads them from the store. */
  readonly inline: { readonly action: Uint8Array; readonly command: Uint8Array } | undefined
}

/** The limit for both messages together. */
const MOST_INLINE_BYTES = 64 * 1024

export function actionSpecToProto({ actionDigest, inline }: ActionSpec): Uint8Array {
  const fits = inline !== undefined && inline.action.length + inline.command.length <= MOST_INLINE_BYTES
  return encoded(ActionSpecProto, {
    digestFunction: digestFunctionNumber(actionDigest.fn),
    actionDigest: digestToProto(actionDigest),
    action: fits ? inline.action : NOTHING,
    command: fits ? inline.command : NOTHING,
  })
}

export function actionSpecFromProto(bytes: Uint8Array): ActionSpec {
  const { digestFunction, actionDigest, action, command } = decodeWellFormed(ActionSpecProto, bytes, SPEC)
  const fn = digestFunctionOf(digestFunction, actionDigest?.hash.length ?? 0, 'sha256')
  return {
    actionDigest: digestFromProto(actionDigest, fn, 'an action'),
    // An Action has at least two digests, so an empty one means that the messages were left out.
    inline: action.length === 0 ? undefined : { action, command },
  }
}

const NOTHING = new Uint8Array()
const SPEC = { name: 'ActionSpec', shape: { 1: 'number', 2: DIGEST_SHAPE, 3: 'bytes', 4: 'bytes' } } as const
