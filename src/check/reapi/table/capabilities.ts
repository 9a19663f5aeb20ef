import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const SPLIT = { since: '2.12', needs: ['split'] } as const
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const EXEC = { needs: ['exec'] } as const
const UPDATE = { needs: ['update'] } as const
const COMPRESSED = { needs: ['compressor'] } as const
const BATCH_COMPRESSED = { needs: ['batch-compressor'] } as const

export const CAPABILITIES = {
  Capabilities: {
    'capabilities.answers': mustRow('GetCapabilities answers for the instance.'),
    'capabilities.cache': mustRow('The answer says what the cache can do.'),
    'capabilities.versions-given': mustRow('The answer names the lowest and the highest version of the API.'),
    'capabilities.versions-ordered': mustRow('The lowest version is not above the highest.'),
    'capabilities.versions-include-2': mustRow('The range of versions holds at least one of the 2.x line.'),
    'capabilities.low-version-2-0': shouldRow('The lowest version is 2.0.', {
      note: 'Bazel up to 7 speaks 2.0 only, and refuses a server that starts higher.',
    }),
    'capabilities.stable': shouldRow('Asked twice, the server answers the same.'),
    'capabilities.digest-functions-given': mustRow('At least one digest function is advertised.'),
    'capabilities.digest-functions-known': mustRow('Every advertised digest function is one that the API defines.'),
    'capabilities.digest-functions-once': shouldRow('No digest function is advertised twice.'),
    'capabilities.digest-functions-work': mustRow(
      'A blob can be stored and found under every advertised digest function.',
    ),
    'capabilities.batch-limit-given': shouldRow('max_batch_total_size_bytes is not 0.', {
      note: 'The Go SDK takes 0 for its batch size, and other clients make buffers of that size.',
    }),
    'capabilities.batch-limit-fits': shouldRow('max_batch_total_size_bytes leaves room in a message of 4 MiB.', {
      needs: ['batch-limit'],
      note: 'Most gRPC libraries refuse messages over 4 MiB unless told otherwise.',
    }),
    'capabilities.limits-not-negative': mustRow('No advertised limit is negative.'),
    'capabilities.symlinks-given': shouldRow('symlink_absolute_path_strategy is given.'),
    'capabilities.compressors-known': mustRow('Every advertised compressor is one that the API defines.'),
    'capabilities.compressors-work': mustRow(
      'Every advertised compressor takes an upload and gives it back.',
      COMPRESSED,
    ),
    'capabilities.batch-compressors-known': mustRow(
      'Every compressor advertised for batches is one that the API defines.',
    ),
    'capabilities.batch-compressors-work': mustRow(
      'Every compressor advertised for batches takes an upload.',
      BATCH_COMPRESSED,
    ),
    'capabilities.update-works': mustRow('Where update_enabled is advertised, UpdateActionResult is accepted.', UPDATE),
    'capabilities.split-works': mustRow('Where split_blob_support is advertised, SplitBlob is implemented.', SPLIT),
    'capabilities.splice-works': mustRow('Where splice_blob_support is advertised, SpliceBlob is implemented.', SPLICE),
    'capabilities.split-declared': mustRow('Where split_blob_support is not advertised, SplitBlob is UNIMPLEMENTED.', {
      since: '2.12',
      needs: ['no-split'],
    }),
    'capabilities.splice-declared': mustRow(
      'Where splice_blob_support is not advertised, SpliceBlob is UNIMPLEMENTED.',
      {
        since: '2.12',
        needs: ['no-splice'],
      },
    ),
    'capabilities.fast-cdc-range': mustRow('The average chunk of FastCDC 2020 lies between 1 KiB and 1 MiB.', {
      since: '2.12',
      needs: ['fast-cdc'],
    }),
    'capabilities.rep-max-cdc-range': mustRow('The smallest chunk of RepMaxCDC has at least 64 bytes.', {
      since: '2.12',
      needs: ['rep-max-cdc'],
    }),
    'capabilities.cache-priorities-ordered': mustRow('No range of cache priorities ends before it starts.'),
    'capabilities.exec-priorities-ordered': mustRow('No range of execution priorities ends before it starts.', EXEC),
    'capabilities.exec-priorities-given': shouldRow('A range of execution priorities is advertised.', {
      needs: ['exec'],
      note: 'Bazel refuses any other priority than 0 where there is none.',
    }),
    'capabilities.exec-priorities-default': shouldRow('A range of execution priorities holds 0, the default.', {
      needs: ['exec-priorities'],
    }),
    'capabilities.exec-function-given': mustRow('Execution names its digest function in the singular field.', EXEC),
    'capabilities.exec-functions-include': mustRow('The list of execution functions holds the singular one.', {
      since: '2.7',
      needs: ['exec'],
    }),
    'capabilities.exec-functions-stored': shouldRow(
      'The cache takes every digest function that execution takes.',
      EXEC,
    ),
    'capabilities.unknown-fields-ignored': mustRow('Fields of a request that the server does not know are ignored.'),
    'capabilities.garbage-refused': shouldRow('A request that is no message is refused.'),
    'capabilities.garbage-metadata-tolerated': shouldRow('A RequestMetadata header that makes no sense does no harm.'),
  },
} satisfies BehaviourTable
