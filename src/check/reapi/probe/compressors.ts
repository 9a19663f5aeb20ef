import { brotliCompressSync, brotliDecompressSync, deflateRawSync, inflateRawSync, zstdCompressSync } from 'node:zlib'
import { zstdDecompressed } from '../../../base/zstd-whole.ts'
import type { CacheCapabilities } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { Unmet } from '../../unmet.ts'

export interface TestedCompressor {
  /** Its name in resource names. */
  readonly name: 'zstd' | 'deflate' | 'brotli'
  readonly number: 1 | 2 | 3
  compress(bytes: Uint8Array): Uint8Array
  /** Throws with the reason when the bytes cannot be decompressed. */
  decompress(bytes: Uint8Array): Uint8Array
}

/** Larger than any blob of this suite: limits what a faulty server can send. */
const MOST_BYTES = 64 * 1024 * 1024
const BOUNDED = { maxOutputLength: MOST_BYTES }

type Pair = readonly [compress: (bytes: Uint8Array) => Uint8Array, decompress: (bytes: Uint8Array) => Uint8Array]

const compressor = (
  name: TestedCompressor['name'],
  number: TestedCompressor['number'],
  [compress, unpack]: Pair,
): TestedCompressor => ({
  name,
  number,
  compress,
  decompress(bytes) {
    try {
      return unpack(bytes)
    } catch (error) {
      throw new Unmet(`${bytes.length} bytes of ${name}`, `bytes that do not decompress (${String(error)})`)
    }
  },
})

export const ZSTD = compressor('zstd', 1, [zstdCompressSync, (bytes) => zstdDecompressed(bytes, MOST_BYTES)])
export const DEFLATE = compressor('deflate', 2, [deflateRawSync, (bytes) => inflateRawSync(bytes, BOUNDED)])
export const BROTLI = compressor('brotli', 3, [brotliCompressSync, (bytes) => brotliDecompressSync(bytes, BOUNDED)])
const COMPRESSORS: readonly TestedCompressor[] = [ZSTD, DEFLATE, BROTLI]

export const compressorNumbered = (number: number): TestedCompressor | undefined =>
  COMPRESSORS.find((each) => each.number === number)

export const compressorNamed = (name: string): TestedCompressor | undefined =>
  COMPRESSORS.find((each) => each.name === name)

/** Compressors for compressed-blobs resource names. */
export const advertised = (cache: CacheCapabilities): TestedCompressor[] =>
  COMPRESSORS.filter(({ number }) => cache.supportedCompressors.includes(number))

/** Compressors for BatchUpdateBlobs. */
export const advertisedForBatches = (cache: CacheCapabilities): TestedCompressor[] =>
  COMPRESSORS.filter(({ number }) => cache.supportedBatchUpdateCompressors.includes(number))
