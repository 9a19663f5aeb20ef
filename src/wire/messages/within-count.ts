import { BinaryReader } from '@bufbuild/protobuf/wire'

/**
 * Decodes a message whose 64-bit numbers are limits. The generated decoders throw for a number beyond 2^53, but a
 * server without a limit may send the largest int64. So a larger number becomes 2^53 - 1, which no size or count
 * exceeds.
 */
export const withinCount = <T>(codec: { decode(reader: BinaryReader): T }) => ({
  decode: (bytes: Uint8Array): T => codec.decode(new WithinCountReader(bytes)),
})

/** False for a limit that no size can exceed, and for 0, which means no limit in REAPI. */
export const isRealLimit = (limit: number): boolean => limit > 0 && limit < Number.MAX_SAFE_INTEGER

/** A generated decoder passes its reader to the decoders of nested messages. */
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
