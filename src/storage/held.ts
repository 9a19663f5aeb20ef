import type { DigestList } from '../base/digest.ts'
import { partOf } from '../base/digest-list.ts'
import { turn } from '../base/in-turns.ts'
import type { BlobStore } from './blob-store.ts'

/** Digests that are looked up between two pauses: about 3 ms of work. */
const AT_A_TIME = 16_384

/** Whether every blob of the list is there; asking touches each. */
export function areHeld(list: DigestList, blobs: BlobStore): boolean | Promise<boolean> {
  if (list.count === 0) return true
  if (list.count > AT_A_TIME) return areHeldInTurns(list, blobs)
  const absent = new Uint8Array(list.count)
  const answered = blobs.missing(list, absent)
  return answered === undefined ? !absent.includes(1) : answered.then(() => !absent.includes(1))
}

/** Queries all parts, also after an absent blob: the query touches the blobs. */
async function areHeldInTurns(list: DigestList, blobs: BlobStore): Promise<boolean> {
  let held = true
  for (let at = 0; at < list.count; at += AT_A_TIME) {
    if (!(await areHeld(partOf(list, at, AT_A_TIME), blobs))) held = false
    await turn()
  }
  return held
}
