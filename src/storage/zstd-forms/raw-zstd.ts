/**
 * Writes a zstd frame of raw blocks (RFC 8878, section 3.1.1.2.2): the bytes unchanged, with three bytes before each
 * block. Incompressible data becomes valid zstd this way, at the cost of one copy.
 */
const MAGIC = 0xfd2fb528
/** Frame header descriptor: a content size of 8 bytes, a window, no checksum, no dictionary. */
const DESCRIPTOR = 0xc0
/** A window of 128 KiB, which is also the longest block. */
const WINDOW = 7 << 3
const HEADER_BYTES = 14
const BLOCK_BYTES = 128 * 1024
const BLOCK_HEADER_BYTES = 3

const SPARE_BUFFERS = 8
/** Buffers that streams reuse: a new one for each blob would load the garbage collector. */
const spare: Buffer[] = []

/** Each piece is valid until the next is requested. `size` is the total length of the pieces, and must not be 0. */
export async function* asRawZstd(pieces: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let buffer = spare.pop() ?? Buffer.alloc(0)
  let done = 0
  try {
    for await (const piece of pieces) {
      const most = HEADER_BYTES + piece.length + BLOCK_HEADER_BYTES * Math.ceil(piece.length / BLOCK_BYTES)
      if (buffer.length < most) buffer = Buffer.allocUnsafeSlow(most)
      let end = done === 0 ? writeFrameHeader(buffer, size) : 0
      for (let at = 0; at < piece.length; at += BLOCK_BYTES) {
        const block = piece.subarray(at, at + BLOCK_BYTES)
        done += block.length
        const isLast = done === size ? 1 : 0
        buffer.writeUIntLE((block.length << 3) | isLast, end, BLOCK_HEADER_BYTES)
        buffer.set(block, end + BLOCK_HEADER_BYTES)
        end += BLOCK_HEADER_BYTES + block.length
      }
      yield buffer.subarray(0, end)
    }
  } finally {
    if (spare.length < SPARE_BUFFERS) spare.push(buffer)
  }
}

function writeFrameHeader(into: Buffer, size: number): number {
  into.writeUInt32LE(MAGIC, 0)
  into[4] = DESCRIPTOR
  into[5] = WINDOW
  into.writeBigUInt64LE(BigInt(size), 6)
  return HEADER_BYTES
}
