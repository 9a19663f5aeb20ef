import { pipeline } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import { ZstdFrames } from '../base/zstd-frames.ts'
import { zstdDecompressed } from '../base/zstd-whole.ts'

const OUTPUT_BYTES = 256 * 1024

/** Decompresses one small blob on this thread. Returns undefined when it is not zstd of exactly `size` bytes. */
export function decompressedNow(stored: Uint8Array, size: number): Uint8Array | undefined {
  try {
    const bytes = zstdDecompressed(stored, size)
    return bytes.length === size ? bytes : undefined
  } catch {
    return undefined
  }
}

/**
 * Decompresses a stream piece by piece on libuv's threads, no faster than its reader reads. Throws when the bytes are
 * not zstd.
 */
export async function* decompressing(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frames = new FrameSource(source)
  try {
    while (await frames.hasMore()) {
      const decoder = createZstdDecompress({ chunkSize: OUTPUT_BYTES })
      pipeline(frames.frame(), decoder, () => {})
      yield* decoder
    }
  } finally {
    await frames.end()
  }
}

/** Splits a stream of pieces into frames, each an iterable, in order. */
class FrameSource {
  readonly #source: AsyncIterator<Uint8Array>
  /** Output of the frame splitter: bytes, or null where a frame ends. */
  readonly #ready: (Uint8Array | null)[] = []
  readonly #walker = new ZstdFrames({
    // The decoder keeps a piece longer than the source keeps it valid.
    bytes: (part) => this.#ready.push(Buffer.from(part)),
    frameEnd: () => this.#ready.push(null),
  })

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async hasMore(): Promise<boolean> {
    while (this.#ready.length === 0) {
      const { done, value } = await this.#source.next()
      if (done === true) {
        if (!this.#walker.isWhole) throw new Error('zstd is cut short')
        return false
      }
      if (!this.#walker.push(value)) throw new Error('not zstd')
    }
    return true
  }

  async *frame(): AsyncGenerator<Uint8Array> {
    while (await this.hasMore()) {
      const part = this.#ready.shift()
      if (part === null || part === undefined) return
      yield part
    }
  }

  async end(): Promise<void> {
    await this.#source.return?.()
  }
}
