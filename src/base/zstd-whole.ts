import { zstdDecompressSync } from 'node:zlib'
import { ZstdFrames } from './zstd-frames.ts'

const MOST_OUTPUT_BYTES = 4 * 1024 * 1024

/**
 * A whole zstd stream, every frame of it, decompressed on this thread. Throws when the bytes are not zstd to their very
 * end, or stand for more than `mostBytes`.
 */
export function zstdDecompressed(packed: Uint8Array, mostBytes: number): Uint8Array {
  const parts: Uint8Array[] = []
  let left = mostBytes
  for (const frame of wholeFrames(packed)) {
    // 0 would be refused as a limit; and a frame may well be empty.
    const part = zstdDecompressSync(frame, { maxOutputLength: Math.max(1, left), chunkSize: outputBytes(left) })
    left -= part.length
    if (left < 0) throw new RangeError(`zstd of more than ${mostBytes} bytes`)
    parts.push(part)
  }
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts)
}

/** One buffer for a whole blob, where it is not large: chunks would be copied together. A chunk has at least 64 bytes. */
const outputBytes = (left: number): number => Math.min(Math.max(64, left + 1), MOST_OUTPUT_BYTES)

function wholeFrames(packed: Uint8Array): Uint8Array[] {
  const frames: Uint8Array[] = []
  let parts: Uint8Array[] = []
  const walker = new ZstdFrames({
    bytes: (part) => parts.push(part),
    frameEnd() {
      frames.push(Buffer.concat(parts))
      parts = []
    },
  })
  if (!walker.push(packed)) throw new Error('not zstd')
  if (!walker.isWhole) throw new Error('zstd is cut short')
  return frames
}
