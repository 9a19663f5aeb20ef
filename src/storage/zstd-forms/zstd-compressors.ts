import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib'

/** Contexts that compress on libuv's threads and are reused: a new one costs more than compressing 1 MiB. */
export interface ZstdCompressors {
  /**
   * Returns undefined while all contexts are in use. It must not wait for one: a reader holds its context until its
   * client has received the blob, and that client may wait for the call that would wait here.
   */
  take(): ZstdCompressor | undefined
  close(): void
}

/** A compressor belongs to one caller, which releases it by `using`. */
export interface ZstdCompressor extends Disposable {
  /** Compresses the pieces to one frame. The caller owns the yielded bytes. */
  compress(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>
  /** Returns the compressed size of the bytes. */
  sizeOf(bytes: Uint8Array): Promise<number>
}

const OUTPUT_BYTES = 256 * 1024
/** More than a frame yields for one piece: the stream must not stop while its output is not read yet. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024
/** The fastest level. Higher levels take more time than a network saves. */
const LEVEL = 1

/** At most `most` blobs are compressed at once. */
export function zstdCompressors(most: number): ZstdCompressors {
  const idle: Context[] = []
  let used = 0
  return {
    take() {
      if (used === most) return undefined
      used++
      return compressorOf(idle.pop() ?? newContext(), (context) => {
        used--
        if (context !== undefined) idle.push(context)
      })
    },
    close() {
      for (const context of idle.splice(0)) context.close()
    },
  }
}

function compressorOf(context: Context, giveBack: (context: Context | undefined) => void): ZstdCompressor {
  let isWhole = true
  let isHeld = true
  async function* compress(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    isWhole = false
    for await (const piece of pieces) {
      await context.write(piece)
      yield* context.output()
    }
    await context.endFrame()
    yield* context.output()
    isWhole = true
  }
  return {
    compress,
    async sizeOf(bytes) {
      let size = 0
      for await (const piece of compress(only(bytes))) size += piece.length
      return size
    },
    [Symbol.dispose]() {
      if (!isHeld) return
      isHeld = false
      // A context in the middle of a frame would append the next blob to that frame.
      if (!isWhole) context.close()
      giveBack(isWhole ? context : undefined)
    },
  }
}

interface Context {
  /** Resolves when the bytes are compressed. The caller may then reuse them. */
  write(bytes: Uint8Array): Promise<void>
  endFrame(): Promise<void>
  output(): Generator<Uint8Array>
  close(): void
}

function newContext(): Context {
  const stream: ZstdCompress = createZstdCompress({
    chunkSize: OUTPUT_BYTES,
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
    ...{ readableHighWaterMark: MOST_WAITING_BYTES },
  })
  stream.on('error', () => {}) // each call reports the error to its caller
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => (error ? reject(error) : resolve()))
      }),
    endFrame: () => new Promise((resolve) => stream.flush(constants.ZSTD_e_end, resolve)),
    *output() {
      for (let piece = stream.read(); piece !== null; piece = stream.read()) yield piece as Uint8Array
    },
    close: () => stream.destroy(),
  }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
