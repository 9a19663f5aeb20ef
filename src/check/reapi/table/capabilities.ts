import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const SPLIT = { since: '2.12', needs: ['split'] } as const
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const EXEC = { needs: ['exec'] } as const
const UPDATE = { needs: ['update'] } as const
const COMPRESSED = { needs: ['compressor'] } as const
const BATCH_COMPRESSED = { needs: ['batch-compressor'] } as const

export const CAPABILITIES = {
  Capabilities: {
    'capabilities.answers': mustRow('GetCapabilities returns the capabilities of the instance.'),
    'capabilities.cache': mustRow('The response contains cache_capabilities.'),
    'capabilities.versions-given': mustRow('The response contains the lowest and the highest API version.'),
    'capabilities.versions-ordered': mustRow('The lowest version is not above the highest.'),
    'capabilities.versions-include-2': mustRow('The range of versions contains at least one 2.x version.'),
    'capabilities.low-version-2-0': shouldRow('The lowest version is 2.0.', {
      note: 'Bazel up to version 7 uses only 2.0, and rejects a server whose lowest version is higher.',
    }),
    'capabilities.stable': shouldRow('Two calls return the same response.'),
    'capabilities.digest-functions-given': mustRow('At least one digest function is advertised.'),
    'capabilities.digest-functions-known': mustRow('Every advertised digest function is one that the API defines.'),
    'capabilities.digest-functions-once': shouldRow('No digest function is advertised twice.'),
    'capabilities.digest-functions-work': mustRow(
      'A blob can be stored and found with every advertised digest function.',
    ),
    'capabilities.batch-limit-given': shouldRow('max_batch_total_size_bytes is not 0.', {
      note: 'The Go SDK uses 0 as its batch size, and other clients allocate buffers of this size.',
    }),
    'capabilities.batch-limit-fits': shouldRow('A batch of max_batch_total_size_bytes fits into a message of 4 MiB.', {
      needs: ['batch-limit'],
      note: 'By default, most gRPC libraries reject messages above 4 MiB.',
    }),
    'capabilities.limits-not-negative': mustRow('No advertised limit is negative.'),
    'capabilities.symlinks-given': shouldRow('symlink_absolute_path_strategy is set.'),
    'capabilities.compressors-known': mustRow('Every advertised compressor is one that the API defines.'),
    'capabilities.compressors-work': mustRow(
      'A blob can be uploaded and downloaded with every advertised compressor.',
      COMPRESSED,
    ),
    'capabilities.batch-compressors-known': mustRow(
      'Every compressor advertised for batches is one that the API defines.',
    ),
    'capabilities.batch-compressors-work': mustRow(
      'A blob can be uploaded with every compressor advertised for batches.',
      BATCH_COMPRESSED,
    ),
    'capabilities.update-works': mustRow('If update_enabled is advertised, UpdateActionResult works.', UPDATE),
    'capabilities.split-works': mustRow('If split_blob_support is advertised, SplitBlob is implemented.', SPLIT),
    'capabilities.splice-works': mustRow('If splice_blob_support is advertised, SpliceBlob is implemented.', SPLICE),
    'capabilities.split-declared': mustRow(
      'If split_blob_support is not advertised, SplitBlob returns UNIMPLEMENTED.',
      {
        since: '2.12',
        needs: ['no-split'],
      },
    ),
    'capabilities.splice-declared': mustRow(
      'If splice_blob_support is not advertised, SpliceBlob returns UNIMPLEMENTED.',
      {
        since: '2.12',
        needs: ['no-splice'],
      },
    ),
    'capabilities.fast-cdc-range': mustRow('The average chunk size of FastCDC 2020 is between 1 KiB and 1 MiB.', {
      since: '2.12',
      needs: ['fast-cdc'],
    }),
    'capabilities.rep-max-cdc-range': mustRow('The minimum chunk size of RepMaxCDC is at least 64 bytes.', {
      since: '2.12',
      needs: ['rep-max-cdc'],
    }),
    'capabilities.cache-priorities-ordered': mustRow('No range of cache priorities ends before it starts.'),
    'capabilities.exec-priorities-ordered': mustRow('No range of execution priorities ends before it starts.', EXEC),
    'capabilities.exec-priorities-given': shouldRow('A range of execution priorities is advertised.', {
      needs: ['exec'],
      note: 'Without a range, Bazel rejects every priority except 0.',
    }),
    'capabilities.exec-priorities-default': shouldRow('A range of execution priorities contains 0, the default.', {
      needs: ['exec-priorities'],
    }),
    'capabilities.exec-function-given': mustRow(
      'The execution capabilities set digest_function, the singular field.',
      EXEC,
    ),
    'capabilities.exec-functions-include': mustRow('The digest_functions of execution contain its digest_function.', {
      since: '2.7',
      needs: ['exec'],
    }),
    'capabilities.exec-functions-stored': shouldRow(
      'The cache supports every digest function that execution supports.',
      EXEC,
    ),
    'capabilities.unknown-fields-ignored': mustRow('Unknown fields of a request are ignored.'),
    'capabilities.garbage-refused': shouldRow('A request that is not a valid protobuf message is rejected.'),
    'capabilities.garbage-metadata-tolerated': shouldRow('An invalid RequestMetadata header is ignored.'),
  },
} satisfies BehaviourTable
