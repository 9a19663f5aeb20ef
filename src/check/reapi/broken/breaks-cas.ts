import { STATUS } from '../../../grpc/status.ts'
import type { BatchUpdateBlobsRequest_Request } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { BROTLI, compressorNumbered, ZSTD } from '../probe/compressors.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { after, type Break, fail, misread, when } from './break.ts'
import type { Honest } from './honest.ts'
import { MAX_BATCH_BYTES } from './profile.ts'
import { downloadOf } from './resource-name.ts'
import { storeKey } from './store.ts'

const INVALID = STATUS.invalidArgument
const status = (code: number) => ({ code, message: '', details: [] })
const OK = status(0)

const total = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0)

const plain = ({ compressor, data }: BatchUpdateBlobsRequest_Request): Uint8Array | undefined => {
  try {
    return compressor === 0 ? data : compressorNumbered(compressor)?.decompress(data)
  } catch {
    return undefined
  }
}

const isWrong = (request: BatchUpdateBlobsRequest_Request): boolean => {
  const bytes = plain(request)
  return (
    bytes !== undefined &&
    request.digest !== undefined &&
    storeKey(request.digest).fn.hash(bytes) !== request.digest.hash
  )
}

/** Returns a wrong status for matching items. */
const itemStatus = (isSo: (request: BatchUpdateBlobsRequest_Request, honest: Honest) => boolean, code: number): Break =>
  after('batchUpdateBlobs', ({ responses }, { requests }, honest) => ({
    responses: responses.map((each, index) => {
      const request = requests[index]
      return request !== undefined && isSo(request, honest) ? { ...each, status: status(code) } : each
    }),
  }))

const batchUpdate = (isSo: (requests: readonly BatchUpdateBlobsRequest_Request[]) => boolean): Break =>
  when('batchUpdateBlobs', ({ requests }) => isSo(requests), fail(INVALID))

const storesNothing: Break = when(
  'batchUpdateBlobs',
  ({ requests }) => requests.length > 1 && requests.every(({ digest }) => (digest?.hash.length ?? 0) === 64),
  ({ requests }) => ({ responses: requests.map(({ digest }) => ({ digest, status: OK })) }),
)

export const findMissingBreaks = {
  'find-missing.absent': after('findMissingBlobs', (answer, { blobDigests }) =>
    blobDigests.length === 1 && blobDigests[0]?.sizeBytes === 1_000 ? { missingBlobDigests: [] } : answer,
  ),
  'find-missing.present': after('findMissingBlobs', (answer, { blobDigests }) =>
    blobDigests.length === 1 && blobDigests[0]?.sizeBytes === 1_000 ? { missingBlobDigests: blobDigests } : answer,
  ),
  'find-missing.mixed': after('findMissingBlobs', (answer, { blobDigests }) =>
    blobDigests.length === 6 ? { missingBlobDigests: answer.missingBlobDigests.slice(1) } : answer,
  ),
  'find-missing.duplicates': after('findMissingBlobs', ({ missingBlobDigests }, { blobDigests }) => ({
    missingBlobDigests: blobDigests.filter(({ hash }) => missingBlobDigests.some((each) => each.hash === hash)),
  })),
  'find-missing.none': when('findMissingBlobs', ({ blobDigests }) => blobDigests.length === 0, fail(INVALID)),
  'find-missing.many': when('findMissingBlobs', ({ blobDigests }) => blobDigests.length > 5_000, fail(INVALID)),
  // Reports half of the missing blobs as present.
  'find-missing.truthful': when(
    'read',
    ({ resourceName }) =>
      /\/blobs\/[0-7][0-9a-f]{63}\//.test(resourceName) && downloadOf(resourceName).key.digest.sizeBytes === 1_000,
    fail(STATUS.notFound),
  ),
  'find-missing.after-batch': storesNothing,
} satisfies Partial<Record<BehaviourId, Break>>

export const batchUpdateBreaks = {
  'batch-update.stores': storesNothing,
  'batch-update.answers-each': after('batchUpdateBlobs', ({ responses }) => ({ responses: responses.slice(0, 2) })),
  'batch-update.order': after('batchUpdateBlobs', ({ responses }) => ({ responses: responses.toReversed() })),
  'batch-update.existing': (honest) => ({
    batchUpdateBlobs(request) {
      const there = request.requests.map(({ digest }) => isThere(digest, request.digestFunction, honest))
      const { responses } = honest.methods.batchUpdateBlobs(request)
      return { responses: responses.map((each, index) => (there[index] ? { ...each, status: status(6) } : each)) }
    },
  }),
  'batch-update.duplicates': after('batchUpdateBlobs', ({ responses }) => ({
    responses: responses.map((each, index) =>
      responses.findIndex(({ digest }) => digest?.hash === each.digest?.hash) < index
        ? { ...each, status: status(STATUS.aborted) }
        : each,
    ),
  })),
  'batch-update.none': batchUpdate((requests) => requests.length === 0),
  'batch-update.mismatch': itemStatus((request) => request.compressor === 0 && isWrong(request), 0),
  'batch-update.mismatch-alone': batchUpdate((requests) => requests.length > 1 && requests.some(isWrong)),
  'batch-update.mismatch-not-stored': (honest) => ({
    batchUpdateBlobs(request) {
      for (const { digest, data } of request.requests) {
        if (digest?.hash.length === 64 && digest.sizeBytes === data.length) honest.store.force(storeKey(digest), data)
      }
      return honest.methods.batchUpdateBlobs(request)
    },
  }),
  'batch-update.at-limit': batchUpdate(
    (requests) => total(requests.map(({ data }) => data.length)) === MAX_BATCH_BYTES,
  ),
  'batch-update.over-limit': when(
    'batchUpdateBlobs',
    ({ requests }) => total(requests.map(({ data }) => data.length)) > MAX_BATCH_BYTES,
    ({ requests }) => ({ responses: requests.map(({ digest }) => ({ digest, status: OK })) }),
  ),
  'batch-update.zstd': itemStatus(({ compressor }) => compressor === 1, INVALID),
  'batch-update.deflate': itemStatus(({ compressor }) => compressor === 2, INVALID),
  'batch-update.brotli': itemStatus(({ compressor }) => compressor === 3, INVALID),
  'batch-update.mixed-forms': batchUpdate((requests) => new Set(requests.map(({ compressor }) => compressor)).size > 1),
  'batch-update.compressed-mismatch': itemStatus((request) => request.compressor !== 0 && isWrong(request), 0),
  'batch-update.compressed-corrupt': itemStatus(
    (request) => compressorNumbered(request.compressor) !== undefined && plain(request) === undefined,
    0,
  ),
  'batch-update.unknown-compressor': itemStatus(({ compressor }) => compressor > 3, 0),
} satisfies Partial<Record<BehaviourId, Break>>

export const batchReadBreaks = {
  'batch-read.returns': after('batchReadBlobs', ({ responses }) => ({
    responses: responses.map((each) => (responses.length === 3 ? { ...each, data: each.data.subarray(1) } : each)),
  })),
  'batch-read.answers-each': after('batchReadBlobs', ({ responses }) => ({
    responses: responses.filter((each) => responses.length !== 3 || each.status?.code === 0),
  })),
  'batch-read.order': after('batchReadBlobs', ({ responses }) => ({ responses: responses.toReversed() })),
  'batch-read.absent': after('batchReadBlobs', ({ responses }) => ({
    responses: responses.map((each) =>
      each.status?.code === STATUS.notFound && responses.length === 1 ? { ...each, status: OK } : each,
    ),
  })),
  'batch-read.absent-alone': after('batchReadBlobs', (answer) =>
    answer.responses.length > 1 && answer.responses.some((each) => each.status?.code === STATUS.notFound)
      ? fail(STATUS.notFound)()
      : answer,
  ),
  'batch-read.none': when('batchReadBlobs', ({ digests }) => digests.length === 0, fail(INVALID)),
  'batch-read.plain-by-default': after('batchReadBlobs', ({ responses }, { acceptableCompressors, digests }) => ({
    responses: responses.map((each) =>
      acceptableCompressors.length === 0 && digests[0]?.sizeBytes === 10_000
        ? { ...each, data: ZSTD.compress(each.data), compressor: ZSTD.number }
        : each,
    ),
  })),
  'batch-read.acceptable': after('batchReadBlobs', ({ responses }, { acceptableCompressors }) => ({
    responses: responses.map((each) =>
      acceptableCompressors.includes(1)
        ? { ...each, data: BROTLI.compress(ZSTD.decompress(each.data)), compressor: BROTLI.number }
        : each,
    ),
  })),
  'batch-read.unknown-compressor': when(
    'batchReadBlobs',
    ({ acceptableCompressors }) => acceptableCompressors.some((each) => each > 3),
    fail(INVALID),
  ),
  'batch-read.at-limit': when(
    'batchReadBlobs',
    ({ digests }) => total(digests.map(({ sizeBytes }) => sizeBytes)) === MAX_BATCH_BYTES,
    fail(INVALID),
  ),
  'batch-read.over-limit': misread('batchReadBlobs', (request) =>
    total(request.digests.map(({ sizeBytes }) => sizeBytes)) > MAX_BATCH_BYTES
      ? { ...request, digests: request.digests.slice(0, 1) }
      : request,
  ),
} satisfies Partial<Record<BehaviourId, Break>>

const isThere = (
  digest: BatchUpdateBlobsRequest_Request['digest'],
  digestFunction: number,
  { store }: Honest,
): boolean => {
  try {
    return store.has(storeKey(digest, digestFunction))
  } catch {
    return false
  }
}
