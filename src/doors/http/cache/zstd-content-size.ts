/** The maximum size of a zstd frame header: magic, descriptor, window, dictionary id, content size. */
export const ZSTD_HEADER_BYTES = 18

const MAGIC = 0xfd2fb528
const ID_BYTES = [0, 1, 2, 4] as const
/**
 * The size of the content size field, indexed by the two bits of its flag. A single segment with flag 0 has 1 byte: see
 * below.
 */
const SIZE_BYTES = [0, 2, 4, 8] as const

/**
 * The content size in the header of the first frame (RFC 8878, 3.1.1.1); undefined when it has none or is not a frame.
 * It is a claim: the store verifies it.
 */
export function zstdContentSize(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length < 6 || view.getUint32(0, true) !== MAGIC) return undefined
  const descriptor = view.getUint8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeBytes = descriptor >>> 6 === 0 && isSingleSegment ? 1 : (SIZE_BYTES[descriptor >>> 6] as number)
  const at = 5 + (isSingleSegment ? 0 : 1) + (ID_BYTES[descriptor & 3] as number)
  if (sizeBytes === 0 || at + sizeBytes > bytes.length) return undefined
  if (sizeBytes === 1) return view.getUint8(at)
  if (sizeBytes === 2) return view.getUint16(at, true) + 256
  if (sizeBytes === 4) return view.getUint32(at, true)
  return Number(view.getBigUint64(at, true))
}
