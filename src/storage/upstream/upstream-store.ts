import type { Digest, DigestList } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { blobKeyAt, readFindMissingResponse } from '../../wire/calls/content-answers.ts'
import { findMissingRequest } from '../../wire/calls/content-requests.ts'
import type { BlobReader, BlobStore, ReadRange } from '../blob-store.ts'
import type { BulkPool } from '../bulk/bulk-pool.ts'
import { lanes } from './lanes.ts'
import { type Offers, offersOf } from './offers.ts'
import { trueReader } from './truth.ts'
import type { Upstream } from './upstream.ts'
import { openDownload } from './upstream-read.ts'
import { upstreamReads } from './upstream-reads.ts'
import { eventualWriter, streamedUpload, unpackingUpload } from './upstream-writer.ts'
import { upstreamWrites } from './upstream-writes.ts'

export interface UpstreamStoreOptions {
  readonly upstream: Upstream
  /** The instance name at the upstream. */
  readonly instance: string
  /** Hashes received blobs. */
  readonly bulk: BulkPool
}

const FIND_MISSING = '/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs'
/**
 * The most digests in one FindMissingBlobs request: about 750 KB with SHA-256, and less than 2 MB with any function.
 */
const MOST_DIGESTS = 10_000
/** The most concurrent batches. It limits the memory of a large request. */
const LANES = 4

/**
 * The blobs of another REAPI server. Whole blobs are verified while they are received. A part of a blob cannot be
 * verified and is returned as received.
 */
export function upstreamStore({ upstream, instance, bulk }: UpstreamStoreOptions): BlobStore {
  const offers = offersOf(upstream, instance)
  const missing = (list: DigestList, absent: Uint8Array): Promise<void> =>
    findMissing(upstream, instance, { list, absent })
  return {
    missing,
    find: () => undefined, // REAPI names a blob by hash and size, so a hash alone finds nothing
    readMany: upstreamReads({ upstream, instance, offers, bulk, lanes: lanes(LANES) }),
    writeMany: upstreamWrites({ upstream, instance, offers, lanes: lanes(LANES) }),

    async read(digest, range, signal) {
      const count = Math.min(range.limit ?? digest.size, digest.size - range.offset)
      if (count <= 0) return await emptyReader(digest, missing)
      const form = isWhole(digest, range) && range.acceptZstd === true && (await offers()).zstd ? 'zstd' : 'identity'
      const download = { instance, digest, form, offset: range.offset, count } as const
      const reader = await openDownload(upstream, download, signal)
      return reader && (isWhole(digest, range) ? trueReader(bulk, digest, reader) : reader)
    },

    write(digest, form) {
      if (form === 'identity') return streamedUpload(upstream, { instance, digest, form })
      const decided = ({ zstd }: Offers) =>
        zstd
          ? streamedUpload(upstream, { instance, digest, form })
          : unpackingUpload(streamedUpload(upstream, { instance, digest, form: 'identity' }), digest)
      return eventualWriter(offers().then(decided))
    },
  }
}

const isWhole = ({ size }: Digest, { offset, limit }: ReadRange): boolean =>
  offset === 0 && (limit === undefined || limit >= size)

/** A read of no bytes only tests for existence. ByteStream has no such read, so this sends FindMissingBlobs. */
async function emptyReader(
  digest: Digest,
  missing: (list: DigestList, absent: Uint8Array) => Promise<void>,
): Promise<BlobReader | undefined> {
  const absent = new Uint8Array(1)
  await missing(digestListOf(digest.fn, [digest]), absent)
  return absent[0] === 1 ? undefined : { form: 'identity', pieces: nothing() }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

interface Question {
  readonly list: DigestList
  readonly absent: Uint8Array
}

async function findMissing(upstream: Upstream, instance: string, { list, absent }: Question): Promise<void> {
  for (let from = 0; from < list.count; from += MOST_DIGESTS) {
    const part = slice(list, from, Math.min(list.count, from + MOST_DIGESTS))
    const gone = await upstream.ask(FIND_MISSING, findMissingRequest(instance, part), readFindMissingResponse)
    for (let index = 0; index < part.count; index++) absent[from + index] = gone.has(blobKeyAt(part, index)) ? 1 : 0
  }
}

const slice = ({ fn, width, hashes, sizes }: DigestList, from: number, to: number): DigestList => ({
  fn,
  width,
  count: to - from,
  hashes: hashes.subarray(from * width, to * width),
  sizes: sizes.subarray(from, to),
})
