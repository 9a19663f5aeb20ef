import type { DigestFunction } from '../../base/digest.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { StageStream } from '../../model/command-task.ts'
import type { Output } from '../../runtimes/run/runtime.ts'
import { memoryBlob, type OutputBlob } from '../outputs/blob-target.ts'

/** Of each stream; what is more becomes a blob. */
const INLINE_BYTES = 64 * 1024

/** What a stage printed, as its result carries it: the bytes as they were, and where some are missing. */
export function stageStream(
  { bytes, droppedBytes, droppedAt }: Output,
  fn: DigestFunction,
): { readonly stream: StageStream; readonly blobs: readonly OutputBlob[] } {
  const dropped = { droppedBytes, droppedAt: droppedBytes === 0 ? 0 : droppedAt }
  if (bytes.length <= INLINE_BYTES) return { stream: { inline: bytes, digest: undefined, ...dropped }, blobs: [] }
  const digest = digestOf(fn, bytes)
  return { stream: { inline: undefined, digest, ...dropped }, blobs: [memoryBlob(digest, bytes)] }
}
