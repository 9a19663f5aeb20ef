import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const V2_5 = { since: '2.5' }
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const UPDATE = { needs: ['update'] } as const
const COMPRESSED = { needs: ['compressor'] } as const

export const DIGESTS = {
  Digests: {
    'digests.bytes-as-sent': mustRow(
      'A message is stored byte for byte, including unknown fields and the order of fields.',
    ),
    'digests.inferred': shouldRow(
      'Without a digest function in the request, the server infers it from the length of the hashes.',
    ),
    'digests.explicit': mustRow('A request that sets its digest function is accepted.'),
    'digests.wrong-length': shouldRow(
      'A hash that is too short for the digest function of the request returns INVALID_ARGUMENT.',
      V2_5,
    ),
    'digests.undefined-function': shouldRow(
      'A digest function that the API does not define returns INVALID_ARGUMENT.',
      V2_5,
    ),
    'digests.one-function': shouldRow('Hashes of two lengths in one request return INVALID_ARGUMENT.', {
      note: 'All digests of a request must use the same digest function.',
    }),
    'digests.namespaces': mustRow('A blob is not found with another digest function that has the same hash length.', {
      since: '2.5',
      needs: ['same-length-functions'],
    }),
    'digests.sha256': mustRow('SHA256: a blob can be written and read, in batches and in streams.', {
      needs: ['sha256'],
    }),
    'digests.sha1': mustRow('SHA1: a blob can be written and read, in batches and in streams.', { needs: ['sha1'] }),
    'digests.md5': mustRow('MD5: a blob can be written and read, in batches and in streams.', { needs: ['md5'] }),
    'digests.sha384': mustRow('SHA384: a blob can be written and read, in batches and in streams.', {
      needs: ['sha384'],
    }),
    'digests.sha512': mustRow('SHA512: a blob can be written and read, in batches and in streams.', {
      needs: ['sha512'],
    }),
    'digests.sha256tree': mustRow('SHA256TREE: a blob can be written and read, in batches and in streams.', {
      since: '2.5',
      needs: ['sha256tree'],
    }),
    'digests.blake3': mustRow('BLAKE3: a blob can be written and read, in batches and in streams.', {
      since: '2.5',
      needs: ['blake3'],
    }),
    'digests.gitsha1': mustRow('GITSHA1: a blob can be written and read, in batches and in streams.', {
      since: '2.12',
      needs: ['gitsha1'],
    }),
    'digests.size.find-missing': mustRow('FindMissingBlobs: the right hash with a wrong size is missing.'),
    'digests.size.batch-update': mustRow('BatchUpdateBlobs: the right hash with a wrong size is rejected.'),
    'digests.size.batch-read': mustRow('BatchReadBlobs: the right hash with a wrong size is not found.'),
    'digests.size.read': mustRow('Read: the right hash with a wrong size is not found.'),
    'digests.size.write': mustRow('Write: the right hash with a wrong size returns INVALID_ARGUMENT.'),
    'digests.size.query': mustRow('QueryWriteStatus: the right hash with a wrong size is not complete.'),
    'digests.size.get-tree': mustRow('GetTree: the right hash with a wrong size is not found.'),
    'digests.size.action-cache': mustRow('GetActionResult: the right hash with a wrong size is not found.', UPDATE),
    'digests.size.splice': mustRow('SpliceBlob: the right hash with a wrong size returns INVALID_ARGUMENT.', SPLICE),
    'digests.uppercase.find-missing': shouldRow('FindMissingBlobs: a hash in upper case returns INVALID_ARGUMENT.'),
    'digests.uppercase.batch-update': shouldRow('BatchUpdateBlobs: a hash in upper case returns INVALID_ARGUMENT.'),
    'digests.uppercase.read': shouldRow('Read: a hash in upper case returns INVALID_ARGUMENT.'),
    'digests.uppercase.write': shouldRow('Write: a hash in upper case returns INVALID_ARGUMENT.'),
    'digests.odd-length.find-missing': shouldRow(
      'FindMissingBlobs: a hash of invalid length returns INVALID_ARGUMENT.',
    ),
    'digests.odd-length.batch-update': shouldRow(
      'BatchUpdateBlobs: a hash of invalid length returns INVALID_ARGUMENT.',
    ),
    'digests.odd-length.batch-read': shouldRow('BatchReadBlobs: a hash of invalid length returns INVALID_ARGUMENT.'),
    'digests.odd-length.read': shouldRow('Read: a hash of invalid length returns INVALID_ARGUMENT.'),
    'digests.odd-length.write': shouldRow('Write: a hash of invalid length returns INVALID_ARGUMENT.'),
    'digests.odd-length.action-cache': shouldRow('GetActionResult: a hash of invalid length returns INVALID_ARGUMENT.'),
    'digests.not-hex': shouldRow('A hash that is not hexadecimal returns INVALID_ARGUMENT.'),
    'digests.negative-size': shouldRow('A negative size returns INVALID_ARGUMENT.'),
    'digests.unset': shouldRow('An unset action digest returns INVALID_ARGUMENT.'),
  },
  'Empty blob': {
    'empty.find-missing': mustRow('FindMissingBlobs never reports the empty blob.'),
    'empty.find-missing-every-function': mustRow(
      'FindMissingBlobs never reports the empty blob of any advertised digest function.',
    ),
    'empty.batch-update': mustRow('BatchUpdateBlobs accepts the empty blob.'),
    'empty.batch-read': mustRow('BatchReadBlobs returns the empty blob without an earlier upload.'),
    'empty.read': mustRow('Read returns the empty blob without an earlier upload.'),
    'empty.read-compressed': mustRow('Read returns the empty blob in compressed form.', COMPRESSED),
    'empty.write': mustRow('Write accepts the empty blob.'),
    'empty.query': shouldRow('QueryWriteStatus reports the empty blob as complete.'),
    'empty.get-tree': mustRow('GetTree of the empty blob returns one empty directory.'),
    'empty.action-cache': mustRow(
      'A result whose output is the empty blob is a cache hit without an upload of that blob.',
      UPDATE,
    ),
    'empty.splice': mustRow('SpliceBlob accepts the empty blob as a chunk without an earlier upload.', SPLICE),
  },
} satisfies BehaviourTable
