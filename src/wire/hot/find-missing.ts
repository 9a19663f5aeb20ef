import type { DigestList } from '../../base/digest.ts'
import { sha256Unnamed, type UnnamedFunction } from '../digests/digest.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'

/**
 * FindMissingBlobs: the most frequent call of builds, and the one with the most digests.
 *
 * The response repeats some digests of the request under the same field number, 2. So reading keeps the offsets of each
 * field, and the response is copied from the bytes of the request, adjacent fields in one copy: nothing is encoded.
 * A digest that occurs twice is returned once.
 */
export interface FindMissingRequest {
  readonly instance: string
  readonly digests: DigestList
  /** The message, and the offsets of field `i` in it: from `places[i * 2]` to `places[i * 2 + 1]`. */
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

/** `BlobStore.missing` fills `absent`. */
export function findMissingResponse(request: FindMissingRequest, absent: Uint8Array): Uint8Array {
  const { bytes, places, digests } = request
  const selected = firstOfEach(digests, absent)
  let length = 0
  for (let index = 0; index < digests.count; index++) {
    if (selected[index] !== 0) length += (places[index * 2 + 1] as number) - (places[index * 2] as number)
  }
  const out = Buffer.allocUnsafe(length)
  let at = 0
  for (let index = 0; index < digests.count; index++) {
    if (selected[index] === 0) continue
    const from = places[index * 2] as number
    let to = places[index * 2 + 1] as number
    while (index + 1 < digests.count && selected[index + 1] !== 0 && places[index * 2 + 2] === to) {
      index++
      to = places[index * 2 + 1] as number
    }
    out.set(bytes.subarray(from, to), at)
    at += to - from
  }
  return out
}

/** Slots that are probed per digest. Hashes that were made to collide are then returned twice, at no further cost. */
const PROBES = 8

/** The flags, with those of repeated digests cleared. */
function firstOfEach(digests: DigestList, absent: Uint8Array): Uint8Array {
  let count = 0
  for (let index = 0; index < digests.count; index++) if (absent[index] !== 0) count++
  if (count < 2) return absent
  const { hashes, width } = digests
  const table = new Int32Array(1 << (33 - Math.clz32(count - 1)))
  const mask = table.length - 1
  let selected = absent
  for (let index = 0; index < digests.count; index++) {
    if (absent[index] === 0) continue
    const from = index * width
    // Three bytes of the hash serve as its table hash: a digest is random.
    let slot = ((hashes[from] as number) << 16) | ((hashes[from + 1] as number) << 8) | (hashes[from + 2] as number)
    for (let probe = 0; probe < PROBES; probe++, slot++) {
      const seen = table[slot & mask] as number
      if (seen === 0) {
        table[slot & mask] = index + 1
        break
      }
      if (!isSame(digests, seen - 1, index)) continue
      if (selected === absent) selected = new Uint8Array(absent)
      selected[index] = 0
      break
    }
  }
  return selected
}

function isSame({ hashes, sizes, width }: DigestList, one: number, other: number): boolean {
  if (sizes[one] !== sizes[other]) return false
  for (let at = 0; at < width; at++) if (hashes[one * width + at] !== hashes[other * width + at]) return false
  return true
}
