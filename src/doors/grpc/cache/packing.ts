import { Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliDecompress,
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createDeflateRaw,
  createInflateRaw,
  createZstdCompress,
  createZstdDecompress,
  deflateRaw,
  inflateRaw,
  zstdCompress,
  zstdDecompress,
} from 'node:zlib'
import { invalid } from '../../../base/fault.ts'
import { mayUnpackTo } from '../../../base/unpack-limit.ts'
import type { Compressor } from '../../../model/compressor.ts'

/**
 * Compression of blobs on the wire. Everything here runs on libuv's threads, never on the main thread. The levels are
 * fast: a build transfers a blob once, and a higher level takes more time than it saves on the network.
 */
export type ZstdBlob = Exclude<Compressor, 'identity'>

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const DEFLATE = { level: 1 }

const PACK = {
  zstd: (bytes: Uint8Array) => promisify(zstdCompress)(bytes, ZSTD),
  deflate: (bytes: Uint8Array) => promisify(deflateRaw)(bytes, DEFLATE),
  brotli: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, BROTLI),
} satisfies Record<ZstdBlob, (bytes: Uint8Array) => Promise<Buffer>>

const UNPACK = {
  zstd: (bytes: Uint8Array, maxOutputLength: number) => promisify(zstdDecompress)(bytes, { maxOutputLength }),
  deflate: (bytes: Uint8Array, maxOutputLength: number) => promisify(inflateRaw)(bytes, { maxOutputLength }),
  brotli: (bytes: Uint8Array, maxOutputLength: number) => promisify(brotliDecompress)(bytes, { maxOutputLength }),
} satisfies Record<ZstdBlob, (bytes: Uint8Array, maxOutputLength: number) => Promise<Buffer>>

const PACKER = {
  zstd: () => createZstdCompress(ZSTD),
  deflate: () => createDeflateRaw(DEFLATE),
  brotli: () => createBrotliCompress(BROTLI),
} satisfies Record<ZstdBlob, () => Transform>

const UNPACKER = {
  zstd: () => createZstdDecompress(),
  deflate: () => createInflateRaw(),
  brotli: () => createBrotliDecompress(),
} satisfies Record<ZstdBlob, () => Transform>

export const pack = (bytes: Uint8Array, compressor: ZstdBlob): Promise<Uint8Array> => PACK[compressor](bytes)

/** Stops at `size`: a few compressed bytes must not expand to gigabytes. */
export async function unpackBlob(bytes: Uint8Array, compressor: ZstdBlob, size: number): Promise<Uint8Array> {
  try {
    return await UNPACK[compressor](bytes, Math.max(1, size))
  } catch (error) {
    throw corrupted(compressor, error)
  }
}

/** Compresses the pieces of a blob while they are streamed. */
export async function* packing(pieces: AsyncIterable<Uint8Array>, compressor: ZstdBlob): AsyncGenerator<Uint8Array> {
  yield* Readable.from(owned(pieces), { objectMode: false }).compose(PACKER[compressor]()) as AsyncIterable<Uint8Array>
}

/** Copies: the store reuses the buffer of a piece, and the stream holds several pieces. */
async function* owned(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Uint8Array.from(piece)
}

/** Decompresses an upload. */
export interface Unpacker {
  write(bytes: Uint8Array): Promise<void>
  /** Throws `invalid` when the compressed data is incomplete. */
  end(): Promise<void>
  abort(): void
}

export interface UnpackerOptions {
  readonly maxPackedBytes: number
  /** The size in the digest. */
  readonly size: number
  onPiece(bytes: Uint8Array): void | Promise<void>
}

export function unpacker(compressor: ZstdBlob, { maxPackedBytes, size, onPiece }: UnpackerOptions): Unpacker {
  let have = 0
  let unpacked = 0
  const stream = UNPACKER[compressor]()
  const done = (async () => {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      unpacked += piece.length
      if (!mayUnpackTo(unpacked, have, size))
        throw invalid(`the ${compressor} data unpacks to more than 1,000 times its length; send the blob unpacked`)
      await onPiece(piece)
    }
  })()
  const failure = done.catch((error: unknown) => {
    throw error instanceof Error && 'code' in error ? corrupted(compressor, error) : error
  })
  failure.catch(() => {})
  return {
    async write(bytes) {
      have += bytes.length
      if (have > maxPackedBytes) throw invalid(`the ${compressor} data is longer than its digest allows`)
      if (stream.destroyed) return await failure
      // A copy: the stream keeps the bytes until it processes them, and their buffer is reused.
      if (!stream.write(Uint8Array.from(bytes)))
        await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), failure])
    },
    async end() {
      stream.end()
      await failure
    },
    abort: () => void stream.destroy(),
  }
}

const corrupted = (compressor: ZstdBlob, cause: unknown) =>
  invalid(`the data is not ${compressor}, or not what its digest says (${(cause as Error).message})`)
