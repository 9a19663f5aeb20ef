import type { DigestList } from '../../base/digest.ts'
import { DigestListBuilder } from '../../base/digest-list.ts'

/** Beside the digits of its hash: tags, lengths, the size, and a status. */
const AROUND_BYTES = 40
/** A message of a few hundred KiB, however small the blobs are. */
const MOST_BLOBS = 4000

/** The size of a blob in a batch. */
const batchedBytes = (list: DigestList, index: number): number =>
  (list.sizes[index] as number) + list.width * 2 + AROUND_BYTES

/** Divides the `wanted` digests of a list into batches of at most `maxBytes`; larger blobs are in `large`. */
export function digestBatches(
  list: DigestList,
  wanted: Iterable<number>,
  maxBytes: number,
): { batches: number[][]; large: number[] } {
  const batches: number[][] = []
  const large: number[] = []
  let batch: number[] = []
  let bytes = 0
  for (const index of wanted) {
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

/** Some digests of a list as a list of their own. */
export function pickAt(list: DigestList, indexes: readonly number[]): DigestList {
  const builder = new DigestListBuilder(list.fn, indexes.length)
  for (const index of indexes) builder.addRaw(list.hashes, index * list.width, list.sizes[index] as number)
  return builder.build()
}
