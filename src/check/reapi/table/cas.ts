import { type BehaviourTable, must, should } from './row.ts'

const SPLIT = { since: '2.12', needs: ['split'] } as const
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const COMPRESSED = { needs: ['compressor'] } as const
const BATCH_COMPRESSED = { needs: ['batch-compressor'] } as const

export const CAS = {
  'CAS.FindMissingBlobs': {
    'find-missing.absent': must('A blob that is not there is reported.'),
    'find-missing.present': must('A blob that is there is not reported.'),
    'find-missing.mixed': must('Among many, exactly those that are not there are reported.'),
    'find-missing.duplicates': should('A blob that is asked for twice is reported once.'),
    'find-missing.none': must('An empty request has an empty answer.'),
    'find-missing.many': must('10,000 digests in one request are answered.', {
      note: 'The Go SDK asks for 10,000 at once, Bazel for what fits in 1 MiB.',
    }),
    'find-missing.truthful': must('What is not reported can be read.'),
    'find-missing.after-batch': must('A blob is there as soon as BatchUpdateBlobs has answered.'),
    'find-missing.after-compressed-write': must(
      'A blob is there as soon as its compressed upload is answered.',
      COMPRESSED,
    ),
  },
  'CAS.BatchUpdateBlobs': {
    'batch-update.stores': must('Blobs of a batch can be read afterwards.'),
    'batch-update.answers-each': must('There is one answer for each blob, with its digest.'),
    'batch-update.order': should('Answers come in the order of the request.'),
    'batch-update.existing': must('A blob that is there already is OK.'),
    'batch-update.duplicates': must('A blob that stands twice in a batch does no harm.'),
    'batch-update.none': must('An empty batch has an empty answer.'),
    'batch-update.mismatch': must('Data that does not match its digest is INVALID_ARGUMENT.'),
    'batch-update.mismatch-alone': must('Data that does not match its digest does not harm its neighbours.'),
    'batch-update.mismatch-not-stored': must('Data that does not match its digest is not stored.'),
    'batch-update.at-limit': must('A batch of exactly max_batch_total_size_bytes is taken.', {
      needs: ['batch-limit'],
    }),
    'batch-update.over-limit': must('A batch over max_batch_total_size_bytes is INVALID_ARGUMENT as a whole.', {
      needs: ['batch-limit'],
    }),
    'batch-update.zstd': must('A blob of a batch may be zstd.', { needs: ['batch-zstd'] }),
    'batch-update.deflate': must('A blob of a batch may be deflate.', { needs: ['batch-deflate'] }),
    'batch-update.brotli': must('A blob of a batch may be brotli.', { needs: ['batch-brotli'] }),
    'batch-update.mixed-forms': must('Compressed and plain blobs may share a batch.', BATCH_COMPRESSED),
    'batch-update.compressed-mismatch': must(
      'Compressed data that does not match its digest is INVALID_ARGUMENT.',
      BATCH_COMPRESSED,
    ),
    'batch-update.compressed-corrupt': must('Data that does not decompress is INVALID_ARGUMENT.', BATCH_COMPRESSED),
    'batch-update.unknown-compressor': should('Data under a compressor that is not advertised is INVALID_ARGUMENT.'),
  },
  'CAS.BatchReadBlobs': {
    'batch-read.returns': must('Blobs that are there come with their bytes.'),
    'batch-read.answers-each': must('There is one answer for each blob, with its digest.'),
    'batch-read.order': should('Answers come in the order of the request.'),
    'batch-read.absent': must('A blob that is not there is NOT_FOUND.'),
    'batch-read.absent-alone': must('A blob that is not there does not harm its neighbours.'),
    'batch-read.none': must('An empty request has an empty answer.'),
    'batch-read.plain-by-default': must('Data is not compressed for a client that accepts no compressor.'),
    'batch-read.acceptable': must(
      'Data is compressed only with what the client accepts, and decompresses to the blob.',
    ),
    'batch-read.unknown-compressor': should('A compressor that the server does not know is not used, and is no error.'),
    'batch-read.at-limit': must('Blobs of exactly max_batch_total_size_bytes are given.', { needs: ['batch-limit'] }),
    'batch-read.over-limit': must('Blobs over max_batch_total_size_bytes are INVALID_ARGUMENT as a whole.', {
      needs: ['batch-limit'],
    }),
  },
  'CAS.GetTree': {
    'get-tree.implemented': must('GetTree is implemented.', {
      note: 'Where it is not, the other behaviours that need it are not offered.',
    }),
    'get-tree.root': must('The root is part of the answer.'),
    'get-tree.descendants': must('All directories below the root are part of the answer.'),
    'get-tree.verbatim': must('Files, links and their properties come back as they were stored.'),
    'get-tree.shared-once': should('A directory that occurs twice is sent once.', {
      note: 'A tree can have exponentially more places than directories.',
    }),
    'get-tree.missing-child': must('A directory that is not there is left out, and the rest is sent.'),
    'get-tree.missing-root': must('A root that is not there is NOT_FOUND.'),
    'get-tree.deep': must('A tree of 200 levels is walked to its end.'),
    'get-tree.message-size': should('A tree of 6 MiB comes in messages of at most 4 MiB.'),
    'get-tree.page-size': must('No page holds more directories than page_size.'),
    'get-tree.page-token': must('A page token leads to the pages that follow.'),
    'get-tree.last-token': must('The last page has no token.'),
    'get-tree.bad-token': should('A page token that the server never gave is INVALID_ARGUMENT.'),
  },
  'CAS.SplitBlob': {
    'split.concatenates': must('The chunks in their order are the blob.', SPLIT),
    'split.chunks-stored': must('Every chunk is in the CAS.', SPLIT),
    'split.same-function': must('Chunks are named by the digest function of the request.', SPLIT),
    'split.absent': must('A blob that is not there is NOT_FOUND.', SPLIT),
    'split.any-chunking': must('A chunking function that the client prefers is no error, whatever it is.', SPLIT),
    'split.no-digest': should('A request without a digest is INVALID_ARGUMENT.', SPLIT),
    'split.fast-cdc-sizes': must('FastCDC 2020 chunks have a quarter to four times the average, but for the last.', {
      since: '2.12',
      needs: ['split', 'fast-cdc'],
    }),
    'split.rep-max-cdc-sizes': must('RepMaxCDC chunks have the smallest size to twice that, but for the last.', {
      since: '2.12',
      needs: ['split', 'rep-max-cdc'],
    }),
  },
  'CAS.SpliceBlob': {
    'splice.joins': must('Chunks become a blob that can be read.', SPLICE),
    'splice.digest': must('The answer names the digest of the blob.', SPLICE),
    'splice.repeated-chunk': must('A chunk may occur several times.', SPLICE),
    'splice.mismatch': must('Chunks that do not make the blob are INVALID_ARGUMENT.', SPLICE),
    'splice.mismatch-not-stored': must('Chunks that do not make the blob leave none behind.', SPLICE),
    'splice.missing-chunk': must('A chunk that is not there is NOT_FOUND.', SPLICE),
    'splice.existing': must('A blob that is there already is OK or ALREADY_EXISTS.', SPLICE),
    'splice.no-digest': should('A request without the digest of the blob is INVALID_ARGUMENT.', SPLICE),
    'splice.then-split': must('A blob that was spliced can be split.', { since: '2.12', needs: ['splice', 'split'] }),
  },
} satisfies BehaviourTable
