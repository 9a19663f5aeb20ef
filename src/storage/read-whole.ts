import type { DigestList } from '../base/digest.ts'
import type { BlobStore } from './blob-store.ts'

/** The blobs of the list as copies that may be kept; undefined where one is not there. */
export async function readWhole(list: DigestList, blobs: BlobStore): Promise<(Uint8Array | undefined)[]> {
  const whole: (Uint8Array | undefined)[] = new Array(list.count).fill(undefined)
  if (list.count === 0) return whole
  await blobs.readMany(list, {
    found(index, bytes) {
      whole[index] = Uint8Array.from(bytes)
    },
    absent() {},
  })
  return whole
}
