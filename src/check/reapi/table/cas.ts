import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const SPLIT = { since: '2.12', needs: ['split'] } as const
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const COMPRESSED = { needs: ['compressor'] } as const
const BATCH_COMPRESSED = { needs: ['batch-compressor'] } as const

export const CAS = {
  'CAS.FindMissingBlobs': {
    'find-missing.absent': mustRow('A blob that is not there is reported.'),
    'find-missing.present': mustRow('A blob that is there is not reported.'),
    'find-missing.mixed': mustRow('Among many, exactly those that are not there are reported.'),
    'find-missing.duplicates': shouldRow('A blob that is asked for twice is reported once.'),
    'find-missing.none': mustRow('An empty request has an empty answer.'),
    'find-missing.many': mustRow('10,000 digests in one request are answered.', {
      note: 'The Go SDK asks for 10,000 at once, Bazel for what fits in 1 MiB.',
    }),
    'find-missing.truthful': mustRow('What is not reported can be read.'),
    'find-missing.after-batch': mustRow('A blob is there as soon as BatchUpdateBlobs has answered.'),
    'find-missing.after-compressed-write': mustRow(
      'A blob is there as soon as its compressed upload is answered.',
      COMPRESSED,
    ),
  },
  'CAS.BatchUpdateBlobs': {
    'batch-update.stores': mustRow('Blobs of a batch can be read afterwards.'),
    'batch-update.answers-each': mustRow('There is one answer for each blob, with its digest.'),
    'batch-update.order': shouldRow('Answers come in the order of the request.'),
    'batch-update.existing': mustRow('A blob that is there already is OK.'),
    'batch-update.duplicates': mustRow('A blob that stands twice in a batch does no harm.'),
    'batch-update.none': mustRow('An empty batch has an empty answer.'),
    'batch-update.mismatch': mustRow('Data that does not match its digest is INVALID_ARGUMENT.'),
    'batch-update.mismatch-alone': mustRow('Data that does not match its digest does not harm its neighbours.'),
    'batch-update.mismatch-not-stored': mustRow('Data that does not match its digest is not stored.'),
    'batch-update.at-limit': mustRow('A batch of exactly max_batch_total_size_bytes is taken.', {
      needs: ['batch-limit'],
    }),
    'batch-update.over-limit': mustRow('A batch over max_batch_total_size_bytes is INVALID_ARGUMENT as a whole.', {
      needs: ['batch-limit'],
    }),
    'batch-update.zstd': mustRow('A blob of a batch may be zstd.', { needs: ['batch-zstd'] }),
    'batch-update.deflate': mustRow('A blob of a batch may be deflate.', { needs: ['batch-deflate'] }),
    'batch-update.brotli': mustRow('A blob of a batch may be brotli.', { needs: ['batch-brotli'] }),
    'batch-update.mixed-forms': mustRow('Compressed and plain blobs may share a batch.', BATCH_COMPRESSED),
    'batch-update.compressed-mismatch': mustRow(
      'Compressed data that does not match its digest is INVALID_ARGUMENT.',
      BATCH_COMPRESSED,
    ),
    'batch-update.compressed-corrupt': mustRow('Data that does not decompress is INVALID_ARGUMENT.', BATCH_COMPRESSED),
    'batch-update.unknown-compressor': shouldRow('Data under a compressor that is not advertised is INVALID_ARGUMENT.'),
  },
  'CAS.BatchReadBlobs': {
    'batch-read.returns': mustRow('Blobs that are there come with their bytes.'),
    'batch-read.answers-each': mustRow('There is one answer for each blob, with its digest.'),
    'batch-read.order': shouldRow('Answers come in the order of the request.'),
    'batch-read.absent': mustRow('A blob that is not there is NOT_FOUND.'),
    'batch-read.absent-alone': mustRow('A blob that is not there does not harm its neighbours.'),
    'batch-read.none': mustRow('An empty request has an empty answer.'),
    'batch-read.plain-by-default': mustRow('Data is not compressed for a client that accepts no compressor.'),
    'batch-read.acceptable': mustRow(
      'Data is compressed only with what the client accepts, and decompresses to the blob.',
    ),
    'batch-read.unknown-compressor': shouldRow(
      'A compressor that the server does not know is not used, and is no error.',
    ),
    'batch-read.at-limit': mustRow('Blobs of exactly max_batch_total_size_bytes are given.', {
      needs: ['batch-limit'],
    }),
    'batch-read.over-limit': mustRow('Blobs over max_batch_total_size_bytes are INVALID_ARGUMENT as a whole.', {
      needs: ['batch-limit'],
    }),
  },
  'CAS.GetTree': {
    'get-tree.implemented': mustRow('GetTree is implemented.', {
      note: 'Where it is not, the other behaviours that need it are not offered.',
    }),
    'get-tree.root': mustRow('The root is part of the answer.'),
    'get-tree.descendants': mustRow('All directories below the root are part of the answer.'),
    'get-tree.verbatim': mustRow('Files, links and their properties come back as they were stored.'),
    'get-tree.shared-once': shouldRow('A directory that occurs twice is sent once.', {
      note: 'A tree can have exponentially more places than directories.',
    }),
    'get-tree.missing-child': mustRow('A directory that is not there is left out, and the rest is sent.'),
    'get-tree.missing-root': mustRow('A root that is not there is NOT_FOUND.'),
    'get-tree.deep': mustRow('A tree of 200 levels is walked to its end.'),
    'get-tree.message-size': shouldRow('A tree of 6 MiB comes in messages of at most 4 MiB.'),
    'get-tree.page-size': mustRow('No page holds more directories than page_size.'),
    'get-tree.page-token': mustRow('A page token leads to the pages that follow.'),
    'get-tree.last-token': mustRow('The last page has no token.'),
    'get-tree.bad-token': shouldRow('A page token that the server never gave is INVALID_ARGUMENT.'),
  },
  'CAS.SplitBlob': {
    'split.concatenates': mustRow('The chunks in their order are the blob.', SPLIT),
    'split.chunks-stored': mustRow('Every chunk is in the CAS.', SPLIT),
    'split.same-function': mustRow('Chunks are named by the digest function of the request.', SPLIT),
    'split.absent': mustRow('A blob that is not there is NOT_FOUND.', SPLIT),
    'split.any-chunking': mustRow('A chunking function that the client prefers is no error, whatever it is.', SPLIT),
    'split.no-digest': shouldRow('A request without a digest is INVALID_ARGUMENT.', SPLIT),
    'split.fast-cdc-sizes': mustRow('FastCDC 2020 chunks have a quarter to four times the average, but for the last.', {
      since: '2.12',
      needs: ['split', 'fast-cdc'],
    }),
    'split.rep-max-cdc-sizes': mustRow('RepMaxCDC chunks have the smallest size to twice that, but for the last.', {
      since: '2.12',
      needs: ['split', 'rep-max-cdc'],
    }),
  },
  'CAS.SpliceBlob': {
    'splice.joins': mustRow('Chunks become a blob that can be read.', SPLICE),
    'splice.digest': mustRow('The answer names the digest of the blob.', SPLICE),
    'splice.repeated-chunk': mustRow('A chunk may occur several times.', SPLICE),
    'splice.mismatch': mustRow('Chunks that do not make the blob are INVALID_ARGUMENT.', SPLICE),
    'splice.mismatch-not-stored': mustRow('Chunks that do not make the blob leave none behind.', SPLICE),
    'splice.missing-chunk': mustRow('A chunk that is not there is NOT_FOUND.', SPLICE),
    'splice.existing': mustRow('A blob that is there already is OK or ALREADY_EXISTS.', SPLICE),
    'splice.no-digest': shouldRow('A request without the digest of the blob is INVALID_ARGUMENT.', SPLICE),
    'splice.then-split': mustRow('A blob that was spliced can be split.', {
      since: '2.12',
      needs: ['splice', 'split'],
    }),
  },
} satisfies BehaviourTable
