import type { DigestList } from '../../base/digest.ts'
import { sha256Unnamed, type UnnamedFunction } from '../digests/digest-function.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'

/**
 * FindMissingBlobs, the call that builds make most and with the most digests in it.
 *
 * The answer repeats a part of the question under the same field number, 2. So reading keeps the place of each field,
 * and the answer is copied together from the request's own bytes, neighbours in one go: nothing is encoded.
 * A digest that was asked for twice is answered once.
 */
export interface FindMissingRequest {
  readonly instance: string
  readonly digests: DigestList
  /** The message, and the places of field `i` in it: from `places[i * 2]` to `places[i * 2 + 1]`. */
  readonly bytes: Uint8Array
  readonly places: Uint32Array
}

/** The shortest field with a digest: 32 digits, and a tag and a length for both field and hash. */
const SHORTEST = 36

export function readFindMissingRequest(
  bytes: Uint8Array,
  unnamed: UnnamedFunction = sha256Unnamed,
): FindMissingRequest {
  const reader = new MessageReader(bytes, 'FindMissingBlobsRequest')
  const builder = new DigestListReader()
  const pending = new PendingDigest()
  const places = new Uint32Array(2 + 2 * Math.floor(bytes.length / SHORTEST))
  let instance = ''
  let number = 0
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        instance = reader.instance()
        break
      case 2: {
        const { start } = reader
        builder.add(pending.clear().merge(reader), reader)
        const at = (builder.count - 1) * 2
        places[at] = start
        places[at + 1] = reader.at
        break
      }
      case 3:
        number = reader.int32()
        break
      default:
        reader.skip()
    }
  }
  return { instance, digests: builder.finish(number, unnamed(instance)), bytes, places }
}

/** `absent` as `BlobStore.missing` filled it. */
export function findMissingResponse(request: FindMissingRequest, absent: Uint8Array): Uint8Array {
  const { bytes, places, digests } = request
  const wanted = firstOfEach(digests, absent)
  let length = 0
  for (let index = 0; index < digests.count; index++) {
    if (wanted[index] !== 0) length += (places[index * 2 + 1] as number) - (places[index * 2] as number)
  }
  const out = Buffer.allocUnsafe(length)
  let at = 0
  for (let index = 0; index < digests.count; index++) {
    if (wanted[index] === 0) continue
    const from = places[index * 2] as number
    let to = places[index * 2 + 1] as number
    while (index + 1 < digests.count && wanted[index + 1] !== 0 && places[index * 2 + 2] === to) {
      index++
      to = places[index * 2 + 1] as number
    }
    out.set(bytes.subarray(from, to), at)
    at += to - from
  }
  return out
}

/** How far a place in the table is looked for. Hashes made to collide may then come twice, and cost no more than that. */
const PROBES = 8

/** The flags without those of digests that came before. */
function firstOfEach(digests: DigestList, absent: Uint8Array): Uint8Array {
  let count = 0
  for (let index = 0; index < digests.count; index++) if (absent[index] !== 0) count++
  if (count < 2) return absent
  const { hashes, width } = digests
  const table = new Int32Array(1 << (33 - Math.clz32(count - 1)))
  const mask = table.length - 1
  let wanted = absent
  for (let index = 0; index < digests.count; index++) {
    if (absent[index] === 0) continue
    const from = index * width
    // Any bytes of a hash will do, for they are all alike random.
    let slot = ((hashes[from] as number) << 16) | ((hashes[from + 1] as number) << 8) | (hashes[from + 2] as number)
    for (let probe = 0; probe < PROBES; probe++, slot++) {
      const seen = table[slot & mask] as number
      if (seen === 0) {
        table[slot & mask] = index + 1
        break
      }
      if (!isSame(digests, seen - 1, index)) continue
      if (wanted === absent) wanted = new Uint8Array(absent)
      wanted[index] = 0
      break
    }
  }
  return wanted
}

function isSame({ hashes, sizes, width }: DigestList, one: number, other: number): boolean {
  if (sizes[one] !== sizes[other]) return false
  for (let at = 0; at < width; at++) if (hashes[one * width + at] !== hashes[other * width + at]) return false
  return true
}
