import type { DigestList } from '../../base/digest.ts'
import { DigestListBuilder } from '../../base/digest-list.ts'

/**
 * Bytes that one blob adds to a batch besides its data and the digits of its hash: tags, lengths, the size and a
 * status.
 */
const AROUND_BYTES = 40
/** The most blobs in one batch. It keeps a message of empty blobs to a few hundred KiB. */
const MOST_BLOBS = 4000

/** Bytes that a blob takes in a batch. */
const batchedBytes = (list: DigestList, index: number): number =>
  (list.sizes[index] as number) + list.width * 2 + AROUND_BYTES

/**
 * Divides the digests at `indices` into batches of at most `maxBytes`. Blobs larger than that are returned in `large`.
 */
export function digestBatches(
  list: DigestList,
  indices: Iterable<number>,
  maxBytes: number,
): { batches: number[][]; large: number[] } {
  const batches: number[][] = []
  const large: number[] = []
  let batch: number[] = []
  let bytes = 0
  for (const index of indices) {
    const more = batchedBytes(list, index)
    if (more > maxBytes) {
      large.push(index)
      continue
    }
    if (batch.length === 0 || bytes + more > maxBytes || batch.length === MOST_BLOBS) {
      batch = []
      bytes = 0
      batches.push(batch)
    }
    batch.push(index)
    bytes += more
  }
  return { batches, large }
}

/** Returns a list of the digests at `indexes`. */
export function pickAt(list: DigestList, indexes: readonly number[]): DigestList {
  const builder = new DigestListBuilder(list.fn, indexes.length)
  for (const index of indexes) builder.addRaw(list.hashes, index * list.width, list.sizes[index] as number)
  return builder.build()
}
