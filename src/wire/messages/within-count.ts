import { BinaryReader } from '@bufbuild/protobuf/wire'

/**
 * Decodes a message whose 64-bit numbers are limits. The generated decoders throw where a number is beyond 2^53, but a
 * server may well set its limit to the largest int64 there is and mean that it has none. So what cannot be counted
 * becomes the last number that can: nothing that we could ever hold to it is larger.
 */
export const withinCount = <T>(codec: { decode(reader: BinaryReader): T }) => ({
  decode: (bytes: Uint8Array): T => codec.decode(new WithinCountReader(bytes)),
})

/** True of a limit that something countable could go beyond. 0 is no limit by the words of the API. */
export const isRealLimit = (limit: number): boolean => limit > 0 && limit < Number.MAX_SAFE_INTEGER

/** A generated decoder hands its reader on to those of the messages inside. */
class WithinCountReader extends BinaryReader {
  override int64(): bigint {
    return nearest(super.int64())
  }

  override uint64(): bigint {
    return nearest(super.uint64())
  }
}

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)

function nearest(number: bigint | string): bigint {
  const exact = BigInt(number)
  if (exact > LARGEST) return LARGEST
  if (exact < -LARGEST) return -LARGEST
  return exact
}
