import type { DigestFunction } from '../../base/digest.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { StageStream } from '../../model/command-task.ts'
import type { Output } from '../../runtimes/run/runtime.ts'
import { type OutputBlob, outputInMemory } from './blob-target.ts'

/** How the standard output or error of a stage is carried in a result. */
export interface StreamRules {
  readonly fn: DigestFunction
  /** Up to this length the bytes are in the result itself. */
  readonly inlineBytes: number
  /** Bytes that are in the result are stored as a blob, too: some clients of the Remote Execution API insist on it. */
  readonly alwaysBlob: boolean
  /** A notice in the output itself says where bytes were cut: an ActionResult has no field for it. */
  readonly marksCut: boolean
}

export interface StoredStream {
  readonly stream: StageStream
  readonly blobs: readonly OutputBlob[]
}

export function outputStream(output: Output, rules: StreamRules): StoredStream {
  const { droppedBytes } = output
  const bytes = rules.marksCut ? withNotice(output) : output.bytes
  const dropped = { droppedBytes, droppedAt: droppedBytes === 0 ? 0 : output.droppedAt }
  const inline = bytes.length <= rules.inlineBytes ? bytes : undefined
  const isBlob = inline === undefined || (rules.alwaysBlob && bytes.length > 0)
  const digest = isBlob ? digestOf(rules.fn, bytes) : undefined
  return { stream: { inline, digest, ...dropped }, blobs: digest === undefined ? [] : [outputInMemory(digest, bytes)] }
}

function withNotice({ bytes, droppedBytes, droppedAt }: Output): Uint8Array {
  if (droppedBytes === 0) return bytes
  const notice = Buffer.from(`\n[windlass: ${droppedBytes} bytes left out]\n`)
  return Buffer.concat([bytes.subarray(0, droppedAt), notice, bytes.subarray(droppedAt)])
}
