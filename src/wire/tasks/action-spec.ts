import type { Digest } from '../../base/digest.ts'
import { DIGEST_SHAPE, digestFromProto, digestToProto } from '../digests/digest.ts'
import { digestFunctionNumber, digestFunctionOf } from '../digests/digest-function.ts'
import { ActionSpec as ActionSpecProto } from '../gen/windlass/task/v1/task.ts'
import { encoded } from '../messages/encoded.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'

/** What a task of origin `action` is to do, as doors leave it for workers. */
export interface ActionSpec {
  /** Its function is that of everything the action refers to. */
  readonly actionDigest: Digest
  /** The client's own bytes; undefined when they are too many to travel along, and the worker reads them itself. */
  readonly inline: { readonly action: Uint8Array; readonly command: Uint8Array } | undefined
}

/** Together; what is more than this is read from the store by the worker. */
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
    // An action always refers to a command and inputs: one that is empty has been left out.
    inline: action.length === 0 ? undefined : { action, command },
  }
}

const NOTHING = new Uint8Array()
const SPEC = { name: 'ActionSpec', shape: { 1: 'number', 2: DIGEST_SHAPE, 3: 'bytes', 4: 'bytes' } } as const
