import type { Digest } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import type { BlobReader, BlobStore } from '../blob-store.ts'
import { asRawZstd } from './raw-zstd.ts'
import type { ZstdCompressors } from './zstd-compressors.ts'

export interface ZstdFormsOptions {
  /** The store of zstd forms, under the digests of their blobs. */
  readonly forms: BlobStore
  readonly compressors: ZstdCompressors
}

/** Smaller blobs are compressed for each reader: another record would cost more than it saves. */
const SMALLEST_KEPT_BYTES = 64 * 1024
/** Below this size compression saves nothing. */
const SMALLEST_PACKED_BYTES = 4096
const SAMPLE_BYTES = 16 * 1024
/** Blobs whose sample compresses to more than this share of its size are sent as raw blocks. */
const WORTH_COMPRESSING = 0.9
/** The most digests of incompressible blobs in memory. */
const MOST_REMEMBERED = 10_000

/**
 * Serves zstd to readers that accept only zstd. An uncompressed blob is compressed for its first such reader, and the
 * zstd form is stored for later readers. While all compressors are in use, readers get raw blocks.
 */
export const keepingZstdForms =
  ({ forms, compressors }: ZstdFormsOptions) =>
  (inner: BlobStore): BlobStore => {
    const incompressible = new Set<string>()
    const inTheMaking = new Set<string>()

    const isHeld = async (digest: Digest): Promise<boolean> => {
      const absent = new Uint8Array(1)
      await inner.missing(digestListOf(digest.fn, [digest]), absent)
      return absent[0] === 0
    }

    async function* zstdOf(digest: Digest, reader: BlobReader): AsyncGenerator<Uint8Array> {
      const { hash, size } = digest
      const pieces = withFirst(reader.pieces)
      const first = await pieces.first()
      if (first === undefined) return
      const isPlain = size < SMALLEST_PACKED_BYTES || incompressible.has(hash) || inTheMaking.has(hash)
      using compressor = isPlain ? undefined : compressors.take()
      if (compressor === undefined) return yield* asRawZstd(pieces.all(), size)
      const sample = first.subarray(0, SAMPLE_BYTES)
      if ((await compressor.sizeOf(sample)) > sample.length * WORTH_COMPRESSING) {
        remember(incompressible, hash)
        compressor[Symbol.dispose]() // before waiting for the client
        return yield* asRawZstd(pieces.all(), size)
      }
      if (size < SMALLEST_KEPT_BYTES) return yield* compressor.compress(pieces.all())
      inTheMaking.add(hash)
      try {
        yield* kept(forms, digest, compressor.compress(pieces.all()))
      } finally {
        inTheMaking.delete(hash)
      }
    }

    return {
      ...inner,
      async read(digest, range, signal) {
        if (range.onlyZstd !== true || digest.size === 0) return await inner.read(digest, range, signal)
        // This must be first: it touches the blob, because otherwise only the form would be read.
        const form = (await isHeld(digest))
          ? await forms.read(digest, { ...range, acceptZstd: true }, signal)
          : undefined
        if (form?.form === 'zstd') return form
        const reader = await inner.read(digest, { ...range, acceptZstd: true }, signal)
        if (reader === undefined || reader.form === 'zstd') return reader
        return { form: 'zstd', pieces: zstdOf(digest, reader) }
      },
    }
  }

function remember(digests: Set<string>, hash: string): void {
  const [oldest] = digests
  if (digests.size >= MOST_REMEMBERED && oldest !== undefined) digests.delete(oldest)
  digests.add(hash)
}

/** Passes the pieces on and stores a copy. If the copy cannot be stored (a full disk), the reader is not affected. */
async function* kept(forms: BlobStore, digest: Digest, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const writer = forms.write(digest, 'zstd')
  let canKeep = true
  const keep = async (act: () => void | Promise<void>): Promise<void> => {
    if (!canKeep) return
    try {
      await act()
    } catch {
      canKeep = false
    }
  }
  try {
    for await (const piece of pieces) {
      await keep(() => writer.write(piece))
      yield piece
    }
    await keep(() => writer.commit())
  } finally {
    writer.abort()
  }
}

interface WithFirst {
  first(): Promise<Uint8Array | undefined>
  all(): AsyncGenerator<Uint8Array>
}

/** Allows a caller to read the first piece before it reads all of them. */
function withFirst(pieces: AsyncIterable<Uint8Array>): WithFirst {
  const iterator = pieces[Symbol.asyncIterator]()
  let looked: IteratorResult<Uint8Array> | undefined
  return {
    async first() {
      looked ??= await iterator.next()
      return looked.done === true ? undefined : looked.value
    },
    async *all() {
      try {
        for (let next = looked ?? (await iterator.next()); next.done !== true; next = await iterator.next())
          yield next.value
      } finally {
        await iterator.return?.()
      }
    },
  }
}
