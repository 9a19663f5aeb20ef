import { type BehaviourTable, must, should } from './row.ts'

const V2_5 = { since: '2.5' }
const SPLICE = { since: '2.12', needs: ['splice'] } as const
const UPDATE = { needs: ['update'] } as const
const COMPRESSED = { needs: ['compressor'] } as const

export const DIGESTS = {
  Digests: {
    'digests.bytes-as-sent': must('A message is stored as its bytes came, unknown fields and field order included.'),
    'digests.inferred': should('A request without a digest function is understood by the length of its hashes.'),
    'digests.explicit': must('A request that names its digest function is understood.'),
    'digests.wrong-length': should('A hash that is too short for the named digest function is INVALID_ARGUMENT.', V2_5),
    'digests.undefined-function': should('A digest function that the API does not define is INVALID_ARGUMENT.', V2_5),
    'digests.one-function': should('Hashes of two lengths in one request are INVALID_ARGUMENT.', {
      note: 'All digests of a request must be of one function.',
    }),
    'digests.namespaces': must('A blob of one digest function is not there under another with hashes as long.', {
      since: '2.5',
      needs: ['same-length-functions'],
    }),
    'digests.sha256': must('SHA256: a blob goes in and comes out, in batches and in streams.', { needs: ['sha256'] }),
    'digests.sha1': must('SHA1: a blob goes in and comes out, in batches and in streams.', { needs: ['sha1'] }),
    'digests.md5': must('MD5: a blob goes in and comes out, in batches and in streams.', { needs: ['md5'] }),
    'digests.sha384': must('SHA384: a blob goes in and comes out, in batches and in streams.', { needs: ['sha384'] }),
    'digests.sha512': must('SHA512: a blob goes in and comes out, in batches and in streams.', { needs: ['sha512'] }),
    'digests.sha256tree': must('SHA256TREE: a blob goes in and comes out, in batches and in streams.', {
      since: '2.5',
      needs: ['sha256tree'],
    }),
    'digests.blake3': must('BLAKE3: a blob goes in and comes out, in batches and in streams.', {
      since: '2.5',
      needs: ['blake3'],
    }),
    'digests.gitsha1': must('GITSHA1: a blob goes in and comes out, in batches and in streams.', {
      since: '2.12',
      needs: ['gitsha1'],
    }),
    'digests.size.find-missing': must('FindMissingBlobs: the right hash with a wrong size is not there.'),
    'digests.size.batch-update': must('BatchUpdateBlobs: the right hash with a wrong size is refused.'),
    'digests.size.batch-read': must('BatchReadBlobs: the right hash with a wrong size is not there.'),
    'digests.size.read': must('Read: the right hash with a wrong size is not there.'),
    'digests.size.write': must('Write: the right hash with a wrong size is INVALID_ARGUMENT.'),
    'digests.size.query': must('QueryWriteStatus: the right hash with a wrong size is not complete.'),
    'digests.size.get-tree': must('GetTree: the right hash with a wrong size is not there.'),
    'digests.size.action-cache': must('GetActionResult: the right hash with a wrong size is not there.', UPDATE),
    'digests.size.splice': must('SpliceBlob: the right hash with a wrong size is INVALID_ARGUMENT.', SPLICE),
    'digests.uppercase.find-missing': should('FindMissingBlobs: a hash in capitals is INVALID_ARGUMENT.'),
    'digests.uppercase.batch-update': should('BatchUpdateBlobs: a hash in capitals is INVALID_ARGUMENT.'),
    'digests.uppercase.read': should('Read: a hash in capitals is INVALID_ARGUMENT.'),
    'digests.uppercase.write': should('Write: a hash in capitals is INVALID_ARGUMENT.'),
    'digests.odd-length.find-missing': should('FindMissingBlobs: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.batch-update': should('BatchUpdateBlobs: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.batch-read': should('BatchReadBlobs: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.read': should('Read: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.write': should('Write: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.odd-length.action-cache': should('GetActionResult: a hash of impossible length is INVALID_ARGUMENT.'),
    'digests.not-hex': should('A hash with letters beyond f is INVALID_ARGUMENT.'),
    'digests.negative-size': should('A negative size is INVALID_ARGUMENT.'),
    'digests.unset': should('An action digest that is not set is INVALID_ARGUMENT.'),
  },
  'Empty blob': {
    'empty.find-missing': must('FindMissingBlobs never reports the empty blob.'),
    'empty.find-missing-every-function': must('No advertised digest function has its empty blob reported missing.'),
    'empty.batch-update': must('BatchUpdateBlobs takes the empty blob.'),
    'empty.batch-read': must('BatchReadBlobs gives the empty blob though nobody uploaded it.'),
    'empty.read': must('Read gives the empty blob though nobody uploaded it.'),
    'empty.read-compressed': must('Read gives the empty blob in compressed form.', COMPRESSED),
    'empty.write': must('Write takes the empty blob.'),
    'empty.query': should('QueryWriteStatus calls the empty blob complete.'),
    'empty.get-tree': must('GetTree of the empty blob is one empty directory.'),
    'empty.action-cache': must('A result whose output is the empty blob is a hit though nobody uploaded it.', UPDATE),
    'empty.splice': must('SpliceBlob takes the empty blob as a chunk though nobody uploaded it.', SPLICE),
  },
} satisfies BehaviourTable
