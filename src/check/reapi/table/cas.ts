import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const SPLIT = { since: '2.12', needs: ['split'] } as const
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const COMPRESSED = { needs: ['compressor'] } as const
const BATCH_COMPRESSED = { needs: ['batch-compressor'] } as const

export const CAS = {
  'CAS.FindMissingBlobs': {
    'find-missing.absent': mustRow('A missing blob is reported.'),
    'find-missing.present': mustRow('A stored blob is not reported.'),
    'find-missing.mixed': mustRow('Of many blobs, exactly the missing ones are reported.'),
    'find-missing.duplicates': shouldRow('A missing blob that is requested twice is reported once.'),
    'find-missing.none': mustRow('An empty request returns an empty response.'),
    'find-missing.many': mustRow('A request with 10,000 digests is answered.', {
      note: 'The Go SDK sends 10,000 digests per request; Bazel fills 1 MiB.',
    }),
    'find-missing.truthful': mustRow('A blob that is not reported missing can be read.'),
    'find-missing.after-batch': mustRow('A blob is found as soon as BatchUpdateBlobs returns.'),
    'find-missing.after-compressed-write': mustRow(
      'A blob is found as soon as its compressed upload returns.',
      COMPRESSED,
    ),
  },
  'CAS.BatchUpdateBlobs': {
    'batch-update.stores': mustRow('Blobs of a batch can be read after the upload.'),
    'batch-update.answers-each': mustRow('The response contains one entry for each blob, with its digest.'),
    'batch-update.order': shouldRow('The entries of the response have the order of the request.'),
    'batch-update.existing': mustRow('An upload of a stored blob returns OK.'),
    'batch-update.duplicates': mustRow('A batch may contain a blob twice.'),
    'batch-update.none': mustRow('An empty batch returns an empty response.'),
    'batch-update.mismatch': mustRow('Data that does not match its digest returns INVALID_ARGUMENT.'),
    'batch-update.mismatch-alone': mustRow(
      'Data that does not match its digest does not affect the other blobs of the batch.',
    ),
    'batch-update.mismatch-not-stored': mustRow('Data that does not match its digest is not stored.'),
    'batch-update.at-limit': mustRow('A batch of exactly max_batch_total_size_bytes is accepted.', {
      needs: ['batch-limit'],
    }),
    'batch-update.over-limit': mustRow(
      'A batch above max_batch_total_size_bytes fails with INVALID_ARGUMENT for the whole call.',
      {
        needs: ['batch-limit'],
      },
    ),
    'batch-update.zstd': mustRow('A batch may contain blobs compressed with zstd.', { needs: ['batch-zstd'] }),
    'batch-update.deflate': mustRow('A batch may contain blobs compressed with deflate.', { needs: ['batch-deflate'] }),
    'batch-update.brotli': mustRow('A batch may contain blobs compressed with brotli.', { needs: ['batch-brotli'] }),
    'batch-update.mixed-forms': mustRow('A batch may contain compressed and uncompressed blobs.', BATCH_COMPRESSED),
    'batch-update.compressed-mismatch': mustRow(
      'Compressed data that does not match its digest returns INVALID_ARGUMENT.',
      BATCH_COMPRESSED,
    ),
    'batch-update.compressed-corrupt': mustRow(
      'Data that does not decompress returns INVALID_ARGUMENT.',
      BATCH_COMPRESSED,
    ),
    'batch-update.unknown-compressor': shouldRow(
      'Data with a compressor that is not advertised returns INVALID_ARGUMENT.',
    ),
  },
  'CAS.BatchReadBlobs': {
    'batch-read.returns': mustRow('Stored blobs are returned with their content.'),
    'batch-read.answers-each': mustRow('The response contains one entry for each blob, with its digest.'),
    'batch-read.order': shouldRow('The entries of the response have the order of the request.'),
    'batch-read.absent': mustRow('A missing blob returns NOT_FOUND.'),
    'batch-read.absent-alone': mustRow('A missing blob does not affect the other blobs of the batch.'),
    'batch-read.none': mustRow('An empty request returns an empty response.'),
    'batch-read.plain-by-default': mustRow('Data is not compressed if the client accepts no compressor.'),
    'batch-read.acceptable': mustRow(
      'Data is compressed only with a compressor that the client accepts, and decompresses to the blob.',
    ),
    'batch-read.unknown-compressor': shouldRow('A compressor that the server does not know is ignored.'),
    'batch-read.at-limit': mustRow('Blobs of exactly max_batch_total_size_bytes in total are returned.', {
      needs: ['batch-limit'],
    }),
    'batch-read.over-limit': mustRow(
      'Blobs above max_batch_total_size_bytes in total fail with INVALID_ARGUMENT for the whole call.',
      {
        needs: ['batch-limit'],
      },
    ),
  },
  'CAS.GetTree': {
    'get-tree.implemented': mustRow('GetTree is implemented.', {
      note: 'If it is not, the other behaviours that need it are not offered.',
    }),
    'get-tree.root': mustRow('The response contains the root.'),
    'get-tree.descendants': mustRow('The response contains all directories below the root.'),
    'get-tree.verbatim': mustRow('Files, symlinks and their properties are returned as they were stored.'),
    'get-tree.shared-once': shouldRow('A directory that occurs twice is sent once.', {
      note: 'A tree can have exponentially more paths than distinct directories.',
    }),
    'get-tree.missing-child': mustRow('A missing directory is skipped, and the other directories are returned.'),
    'get-tree.missing-root': mustRow('A missing root returns NOT_FOUND.'),
    'get-tree.deep': mustRow('A tree of 200 levels is returned completely.'),
    'get-tree.message-size': shouldRow('A tree of 6 MiB is returned in messages of at most 4 MiB.'),
    'get-tree.page-size': mustRow('No page contains more directories than page_size.'),
    'get-tree.page-token': mustRow('A page token returns the pages that follow.'),
    'get-tree.last-token': mustRow('The last page has no token.'),
    'get-tree.bad-token': shouldRow('A page token that the server did not issue returns INVALID_ARGUMENT.'),
  },
  'CAS.SplitBlob': {
    'split.concatenates': mustRow('The chunks, concatenated in order, are the blob.', SPLIT),
    'split.chunks-stored': mustRow('Every chunk is in the CAS.', SPLIT),
    'split.same-function': mustRow('The digests of chunks use the digest function of the request.', SPLIT),
    'split.absent': mustRow('A missing blob returns NOT_FOUND.', SPLIT),
    'split.any-chunking': mustRow('The server accepts any preferred chunking function of the client.', SPLIT),
    'split.no-digest': shouldRow('A request without a digest returns INVALID_ARGUMENT.', SPLIT),
    'split.fast-cdc-sizes': mustRow('FastCDC 2020 chunks, except the last, have 1/4 to 4 times the average size.', {
      since: '2.12',
      needs: ['split', 'fast-cdc'],
    }),
    'split.rep-max-cdc-sizes': mustRow('RepMaxCDC chunks, except the last, have 1 to 2 times the minimum size.', {
      since: '2.12',
      needs: ['split', 'rep-max-cdc'],
    }),
  },
  'CAS.SpliceBlob': {
    'splice.joins': mustRow('The chunks become a blob that can be read.', SPLICE),
    'splice.digest': mustRow('The response contains the digest of the blob.', SPLICE),
    'splice.repeated-chunk': mustRow('A chunk may occur several times.', SPLICE),
    'splice.mismatch': mustRow('Chunks that do not match the digest of the blob return INVALID_ARGUMENT.', SPLICE),
    'splice.mismatch-not-stored': mustRow('Chunks that do not match the digest of the blob store no blob.', SPLICE),
    'splice.missing-chunk': mustRow('A missing chunk returns NOT_FOUND.', SPLICE),
    'splice.existing': mustRow('Splicing a stored blob returns OK or ALREADY_EXISTS.', SPLICE),
    'splice.no-digest': shouldRow('A request without the digest of the blob returns INVALID_ARGUMENT.', SPLICE),
    'splice.then-split': mustRow('A spliced blob can be split.', {
      since: '2.12',
      needs: ['splice', 'split'],
    }),
  },
} satisfies BehaviourTable
