import type { DigestList } from '../base/digest.ts'
import type { BlobStore } from './blob-store.ts'

/** Whether every blob of the list is there; asking touches each. */
export function areHeld(list: DigestList, blobs: BlobStore): boolean | Promise<boolean> {
  if (list.count === 0) return true
  const absent = new Uint8Array(list.count)
  const answered = blobs.missing(list, absent)
  return answered === undefined ? !absent.includes(1) : answered.then(() => !absent.includes(1))
}
