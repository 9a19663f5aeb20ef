import { type BehaviourTable, must, should } from './row.ts'

const SPLIT = { since: '2.12', needs: ['split'] } as const
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const EXEC = { needs: ['exec'] } as const
const UPDATE = { needs: ['update'] } as const
const COMPRESSED = { needs: ['compressor'] } as const
const BATCH_COMPRESSED = { needs: ['batch-compressor'] } as const

export const CAPABILITIES = {
  Capabilities: {
    'capabilities.answers': must('GetCapabilities answers for the instance.'),
    'capabilities.cache': must('The answer says what the cache can do.'),
    'capabilities.versions-given': must('The answer names the lowest and the highest version of the API.'),
    'capabilities.versions-ordered': must('The lowest version is not above the highest.'),
    'capabilities.versions-include-2': must('The range of versions holds at least one of the 2.x line.'),
    'capabilities.low-version-2-0': should('The lowest version is 2.0.', {
      note: 'Bazel up to 7 speaks 2.0 only, and refuses a server that starts higher.',
    }),
    'capabilities.stable': should('Asked twice, the server answers the same.'),
    'capabilities.digest-functions-given': must('At least one digest function is advertised.'),
    'capabilities.digest-functions-known': must('Every advertised digest function is one that the API defines.'),
    'capabilities.digest-functions-once': should('No digest function is advertised twice.'),
    'capabilities.digest-functions-work': must(
      'A blob can be stored and found under every advertised digest function.',
    ),
    'capabilities.batch-limit-given': should('max_batch_total_size_bytes is not 0.', {
      note: 'The Go SDK takes 0 for its batch size, and other clients make buffers of that size.',
    }),
    'capabilities.batch-limit-fits': should('max_batch_total_size_bytes leaves room in a message of 4 MiB.', {
      needs: ['batch-limit'],
      note: 'Most gRPC libraries refuse messages over 4 MiB unless told otherwise.',
    }),
    'capabilities.limits-not-negative': must('No advertised limit is negative.'),
    'capabilities.symlinks-given': should('symlink_absolute_path_strategy is given.'),
    'capabilities.compressors-known': must('Every advertised compressor is one that the API defines.'),
    'capabilities.compressors-work': must('Every advertised compressor takes an upload and gives it back.', COMPRESSED),
    'capabilities.batch-compressors-known': must(
      'Every compressor advertised for batches is one that the API defines.',
    ),
    'capabilities.batch-compressors-work': must(
      'Every compressor advertised for batches takes an upload.',
      BATCH_COMPRESSED,
    ),
    'capabilities.update-works': must('Where update_enabled is advertised, UpdateActionResult is accepted.', UPDATE),
    'capabilities.split-works': must('Where split_blob_support is advertised, SplitBlob is implemented.', SPLIT),
    'capabilities.splice-works': must('Where splice_blob_support is advertised, SpliceBlob is implemented.', SPLICE),
    'capabilities.split-declared': must('Where split_blob_support is not advertised, SplitBlob is UNIMPLEMENTED.', {
      since: '2.12',
      needs: ['no-split'],
    }),
    'capabilities.splice-declared': must('Where splice_blob_support is not advertised, SpliceBlob is UNIMPLEMENTED.', {
      since: '2.12',
      needs: ['no-splice'],
    }),
    'capabilities.fast-cdc-range': must('The average chunk of FastCDC 2020 lies between 1 KiB and 1 MiB.', {
      since: '2.12',
      needs: ['fast-cdc'],
    }),
    'capabilities.rep-max-cdc-range': must('The smallest chunk of RepMaxCDC has at least 64 bytes.', {
      since: '2.12',
      needs: ['rep-max-cdc'],
    }),
    'capabilities.cache-priorities-ordered': must('No range of cache priorities ends before it starts.'),
    'capabilities.exec-priorities-ordered': must('No range of execution priorities ends before it starts.', EXEC),
    'capabilities.exec-priorities-given': should('A range of execution priorities is advertised.', {
      needs: ['exec'],
      note: 'Bazel refuses any other priority than 0 where there is none.',
    }),
    'capabilities.exec-priorities-default': should('A range of execution priorities holds 0, the default.', {
      needs: ['exec-priorities'],
    }),
    'capabilities.exec-function-given': must('Execution names its digest function in the singular field.', EXEC),
    'capabilities.exec-functions-include': must('The list of execution functions holds the singular one.', {
      since: '2.7',
      needs: ['exec'],
    }),
    'capabilities.exec-functions-stored': should('The cache takes every digest function that execution takes.', EXEC),
    'capabilities.unknown-fields-ignored': must('Fields of a request that the server does not know are ignored.'),
    'capabilities.garbage-refused': should('A request that is no message is refused.'),
    'capabilities.garbage-metadata-tolerated': should('A RequestMetadata header that makes no sense does no harm.'),
  },
} satisfies BehaviourTable
