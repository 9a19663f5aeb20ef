/** Actions that run `/bin/true`, all different, and the messages to execute them. */
import { createHash } from 'node:crypto'
import type { Digest } from '../../../src/base/digest.ts'
import type { PackedBlob } from '../../../src/wire/reapi/cas-calls.ts'
import { executeRequestToProto } from '../../../src/wire/reapi/execution.ts'
import { actionMessage, commandMessage } from './messages.ts'

export interface BenchAction {
  readonly digest: Digest
  readonly blobs: readonly PackedBlob[]
  /** An ExecuteRequest. */
  readonly request: Uint8Array
}

const INLINE = { inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] }
const WISH = { instance: '', skipCacheLookup: false, priority: 0, cachePriority: 0, inline: INLINE }
const EMPTY = digestOf(new Uint8Array())

export function benchAction(word: string): BenchAction {
  const command = commandMessage(word)
  const action = actionMessage(digestOf(command), EMPTY)
  const digest = digestOf(action)
  return {
    digest,
    blobs: [packed(command), packed(action)],
    request: executeRequestToProto({ ...WISH, actionDigest: digest }),
  }
}

function digestOf(bytes: Uint8Array): Digest {
  return { fn: 'sha256', hash: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
}

const packed = (data: Uint8Array): PackedBlob => ({ digest: digestOf(data), data, compressor: 'identity' })
