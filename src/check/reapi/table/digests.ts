import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const V2_5 = { since: '2.5' }
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const UPDATE = { needs: ['update'] } as const
const COMPRESSED = { needs: ['compressor'] } as const

export const DIGESTS = {
  Digests: {
    'digests.bytes-as-sent': mustRow('A message is stored as its bytes came, unknown fields and field order included.'),
    'digests.inferred': shouldRow('A request without a digest function is understood by the length of its hashes.'),
    'digests.explicit': mustRow('A request that names its digest function is understood.'),
    'digests.wrong-length': shouldRow(
      'A hash that is too short for the named digest function is INVALID_ARGUMENT.',
      V2_5,
    ),
    'digests.undefined-function': shouldRow(
      'A digest function that the API does not define is INVALID_ARGUMENT.',
      V2_5,
    ),
    'digests.one-function': shouldRow('Hashes of two lengths in one request are INVALID_ARGUMENT.', {
      note: 'All digests of a request must be of one function.',
    }),
    'digests.namespaces': mustRow('A blob of one digest function is not there under another with hashes as long.', {
      since: '2.5',
      needs: ['same-length-functions'],
    }),
    'digests.sha256': mustRow('SHA256: a blob goes in and comes out, in batches and in streams.', {
      needs: ['sha256'],
    }),
    'digests.sha1': mustRow('SHA1: a blob goes in and comes out, in batches and in streams.', { needs: ['sha1'] }),
    'digests.md5': mustRow('MD5: a blob goes in and comes out, in batches and in streams.', { needs: ['md5'] }),
    'digests.sha384': mustRow('SHA384: a blob goes in and comes out, in batches and in streams.', {
      needs: ['sha384'],
    }),
    'digests.sha512': mustRow('SHA512: a blob goes in and comes out, in batches and in streams.', {
      needs: ['sha512'],
    }),
    'digests.sha256tree': mustRow('SHA256TREE: a blob goes in and comes out, in batches and in streams.', {
      since: '2.5',
      needs: ['sha256tree'],
    }),
    'digests.blake3': mustRow('BLAKE3: a blob goes in and comes out, in batches and in streams.', {
      since: '2.5',
      needs: ['blake3'],
    }),
    'digests.gitsha1': mustRow('GITSHA1: a blob goes in and comes out, in batches and in streams.', {
      since: '2.12',
      needs: ['gitsha1'],
    }),
    'digests.size.find-missing': mustRow('FindMissingBlobs: the right hash with a wrong size is not there.'),
    'digests.size.batch-update': mustRow('BatchUpdateBlobs: the right hash with a wrong size is refused.'),
    'digests.size.batch-read': mustRow('BatchReadBlobs: the right hash with a wrong size is not there.'),
    'digests.size.read': mustRow('Read: the right hash with a wrong size is not there.'),
    'digests.size.write': mustRow('Write: the right hash with a wrong size is INVALID_ARGUMENT.'),
    'digests.size.query': mustRow('QueryWriteStatus: the right hash with a wrong size is not complete.'),
    'digests.size.get-tree': mustRow('GetTree: the right hash with a wrong size is not there.'),
    'digests.size.action-cache': mustRow('GetActionResult: the right hash with a wrong size is not there.', UPDATE),
    'digests.size.splice': mustRow('SpliceBlob: the right hash with a wrong size is INVALID_ARGUMENT.', SPLICE),
    'digests.uppercase.find-missing': shouldRow('FindMissingBlobs: a hash in capitals is INVALID_ARGUMENT.'),
    'digests.uppercase.batch-update': shouldRow('BatchUpdateBlobs: a hash in capitals is INVALID_ARGUMENT.'),
    'digests.uppercase.read': shouldRow('Read: a hash in capitals is INVALID_ARGUMENT.'),
    'digests.uppercase.write': shouldRow('Write: a hash in capitals is INVALID_ARGUMENT.'),
    'digests.odd-length.find-missing': shouldRow('FindMissingBlobs: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.batch-update': shouldRow('BatchUpdateBlobs: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.batch-read': shouldRow('BatchReadBlobs: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.read': shouldRow('Read: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.write': shouldRow('Write: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.action-cache': shouldRow('GetActionResult: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.not-hex': shouldRow('A hash with letters beyond f is INVALID_ARGUMENT.'),
    'digests.negative-size': shouldRow('A negative size is INVALID_ARGUMENT.'),
    'digests.unset': shouldRow('An action digest that is not set is INVALID_ARGUMENT.'),
  },
  'Empty blob': {
    'empty.find-missing': mustRow('FindMissingBlobs never reports the empty blob.'),
    'empty.find-missing-every-function': mustRow('No advertised digest function has its empty blob reported missing.'),
    'empty.batch-update': mustRow('BatchUpdateBlobs takes the empty blob.'),
    'empty.batch-read': mustRow('BatchReadBlobs gives the empty blob though nobody uploaded it.'),
    'empty.read': mustRow('Read gives the empty blob though nobody uploaded it.'),
    'empty.read-compressed': mustRow('Read gives the empty blob in compressed form.', COMPRESSED),
    'empty.write': mustRow('Write takes the empty blob.'),
    'empty.query': shouldRow('QueryWriteStatus calls the empty blob complete.'),
    'empty.get-tree': mustRow('GetTree of the empty blob is one empty directory.'),
    'empty.action-cache': mustRow(
      'A result whose output is the empty blob is a hit though nobody uploaded it.',
      UPDATE,
    ),
    'empty.splice': mustRow('SpliceBlob takes the empty blob as a chunk though nobody uploaded it.', SPLICE),
  },
} satisfies BehaviourTable
