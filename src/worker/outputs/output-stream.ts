import type { DigestFunction } from '../../base/digest.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { OutputStream } from '../../model/action-result.ts'
import type { Output } from '../../runtimes/run/runtime.ts'
import { memoryBlob, type OutputBlob } from './blob-target.ts'

/** Standard output or error as a result carries it: as a blob, which some clients insist on, and within it too when short. */
export function outputStream(
  output: Output,
  fn: DigestFunction,
  inlineBytes: number,
): { stream: OutputStream; blobs: OutputBlob[] } {
  const bytes = withNotice(output)
  if (bytes.length === 0) return { stream: { digest: undefined, raw: undefined }, blobs: [] }
  const digest = digestOf(fn, bytes)
  const raw = bytes.length <= inlineBytes ? bytes : undefined
  return { stream: { digest, raw }, blobs: [memoryBlob(digest, bytes)] }
}

/** A result has no word for output that is not all there, so the output itself says so, where it was cut. */
function withNotice({ bytes, droppedBytes, droppedAt }: Output): Uint8Array {
  if (droppedBytes === 0) return bytes
  const notice = Buffer.from(`\n[windlass: ${droppedBytes} bytes left out]\n`)
  return Buffer.concat([bytes.subarray(0, droppedAt), notice, bytes.subarray(droppedAt)])
}
