import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const COMPRESSED = { needs: ['compressor'] } as const

export const BYTESTREAM = {
  'Resource names': {
    'names.slashed-instance': mustRow('An instance name with slashes is understood in resource names.', {
      needs: ['slashed-instance'],
    }),
    'names.write-metadata': mustRow('What follows the size in the name of an upload is ignored.'),
    'names.uuid-again': mustRow('One upload id may serve for several blobs.'),
    'names.needless-segment': shouldRow('A name that spells out SHA256, which must be left out, is INVALID_ARGUMENT.', {
      since: '2.5',
      needs: ['sha256'],
    }),
    'names.identity-read': mustRow('Reading compressed-blobs/identity is refused.', {
      note: 'The specification allows only compressors other than identity there.',
    }),
    'names.identity-write': mustRow('Writing compressed-blobs/identity is refused.'),
    'names.unknown-compressor-read': shouldRow('Reading under a compressor that does not exist is refused.'),
    'names.unknown-compressor-write': shouldRow('Writing under a compressor that does not exist is refused.'),
    'names.malformed-read': shouldRow('Reading a name that is no resource name is INVALID_ARGUMENT.'),
    'names.malformed-write': shouldRow('Writing to a name that is no resource name is INVALID_ARGUMENT.'),
    'names.malformed-query': shouldRow('QueryWriteStatus for a name that is no resource name is INVALID_ARGUMENT.'),
    'names.size-not-a-number': shouldRow('A size that is no number is INVALID_ARGUMENT.'),
    'names.header-accepted': mustRow('A resource-name header that repeats the name does no harm.'),
    'names.header-mismatch': shouldRow('A resource-name header that names another blob is INVALID_ARGUMENT.', {
      since: '2.12',
      note: 'The specification binds the client: a proxy may route by the header, so that a server had better look.',
    }),
  },
  'ByteStream.Read': {
    'bytestream.read.whole': mustRow('A blob comes back whole.'),
    'bytestream.read.large': mustRow('A blob that is larger than any message comes back whole, in several messages.'),
    'bytestream.read.message-size': shouldRow('No message is larger than the 4 MiB that clients accept by default.'),
    'bytestream.read.absent': mustRow('A blob that is not there is NOT_FOUND, before any data.'),
    'bytestream.read.offset': mustRow('read_offset skips that many bytes.'),
    'bytestream.read.offset-at-end': mustRow('read_offset at the very end gives no data and no error.'),
    'bytestream.read.offset-past-end': mustRow('read_offset past the end is OUT_OF_RANGE.'),
    'bytestream.read.offset-negative': mustRow('A negative read_offset is refused.', {
      note: 'The ByteStream definition says OUT_OF_RANGE; servers also say INVALID_ARGUMENT, and both are accepted.',
    }),
    'bytestream.read.limit': mustRow('read_limit ends the data after that many bytes.'),
    'bytestream.read.limit-past-end': mustRow('read_limit past the end gives what there is.'),
    'bytestream.read.limit-negative': mustRow('A negative read_limit is refused.'),
    'bytestream.read.offset-and-limit': mustRow('read_offset and read_limit together cut out the middle.'),
    'bytestream.read.concurrent': mustRow('Many readers of one blob at once all get it.'),
    'bytestream.read.slow-reader': mustRow('A reader that pauses gets the rest when it goes on.'),
    'bytestream.read.cancelled': mustRow('A reader that leaves halfway does not spoil the blob for the next.'),
    'bytestream.read.zstd': mustRow('A blob uploaded as it is can be read as zstd.', { needs: ['zstd'] }),
    'bytestream.read.deflate': mustRow('A blob uploaded as it is can be read as deflate, which is raw RFC 1951.', {
      needs: ['deflate'],
    }),
    'bytestream.read.brotli': mustRow('A blob uploaded as it is can be read as brotli.', { needs: ['brotli'] }),
    'bytestream.read.compressed-large': mustRow('A large blob can be read compressed.', COMPRESSED),
    'bytestream.read.compressed-absent': mustRow('A compressed read of an absent blob is NOT_FOUND.', COMPRESSED),
    'bytestream.read.compressed-offset': mustRow(
      'read_offset of a compressed read counts uncompressed bytes.',
      COMPRESSED,
    ),
    'bytestream.read.compressed-offset-past-end': mustRow(
      'A compressed read with read_offset past the end is OUT_OF_RANGE.',
      COMPRESSED,
    ),
    'bytestream.read.compressed-offset-negative': mustRow(
      'A compressed read with a negative read_offset is refused.',
      COMPRESSED,
    ),
    'bytestream.read.compressed-limit': mustRow('A compressed read with a read_limit is INVALID_ARGUMENT.', COMPRESSED),
    'bytestream.read.plain-of-compressed': mustRow('A blob uploaded compressed can be read as it is.', COMPRESSED),
    'bytestream.read.every-form': mustRow(
      'A blob uploaded in any advertised form can be read in every advertised form.',
      COMPRESSED,
    ),
  },
  'ByteStream.Write': {
    'bytestream.write.one-message': mustRow('A blob can be written in one message.'),
    'bytestream.write.several-messages': mustRow('A blob can be written in several messages.'),
    'bytestream.write.large': mustRow('A blob that is larger than any message can be written.'),
    'bytestream.write.committed-size': mustRow('A finished write answers with the size of the blob.'),
    'bytestream.write.name-once': mustRow('The resource name is needed in the first message only.'),
    'bytestream.write.name-repeated': mustRow('The resource name may be repeated in every message.'),
    'bytestream.write.name-changed': shouldRow('A resource name that changes on the way is refused.'),
    'bytestream.write.empty-message': mustRow('A message without data on the way does no harm.'),
    'bytestream.write.finish-alone': mustRow('finish_write may come in a last message without data.'),
    'bytestream.write.offset-mismatch': mustRow('A later message with the wrong write_offset is refused.'),
    'bytestream.write.offset-first': mustRow('A new upload that does not start at offset 0 is refused.'),
    'bytestream.write.existing-answers-at-once': mustRow(
      'Writing a blob that is there is answered before the client has sent it all.',
    ),
    'bytestream.write.existing-committed-size': mustRow(
      'Writing a blob that is there answers with its full size, whatever was sent.',
    ),
    'bytestream.write.existing-late-data': mustRow('Data that arrives after the early answer is no error.'),
    'bytestream.write.overtaken': mustRow('An upload that another one of the same blob overtakes ends well.'),
    'bytestream.write.concurrent': mustRow('Many uploads of one blob at once all end well, and the blob is whole.'),
    'bytestream.write.hash-mismatch': mustRow('Data that does not match the hash is INVALID_ARGUMENT.'),
    'bytestream.write.hash-mismatch-not-stored': mustRow('Data that does not match the hash is not stored.'),
    'bytestream.write.too-short': mustRow('A write that finishes before the size is reached is INVALID_ARGUMENT.'),
    'bytestream.write.too-long': mustRow('A write of more bytes than the size says is INVALID_ARGUMENT.'),
    'bytestream.write.unfinished': mustRow('A stream closed halfway, without finish_write, leaves no blob behind.'),
    'bytestream.write.unfinished-answer': mustRow('A stream closed halfway is not answered as if it were complete.'),
    'bytestream.write.no-message': shouldRow('A stream closed without any message is refused.'),
    'bytestream.write.cancelled': mustRow('A cancelled upload leaves nothing behind that stops the next one.'),
    'bytestream.write.resume': shouldRow('An interrupted upload can go on from what QueryWriteStatus says.'),
    'bytestream.write.over-limit': shouldRow('A blob over max_cas_blob_size_bytes is INVALID_ARGUMENT.', {
      since: '2.12',
      needs: ['blob-limit'],
    }),
    'bytestream.write.zstd': mustRow('A blob can be written as zstd.', { needs: ['zstd'] }),
    'bytestream.write.deflate': mustRow('A blob can be written as deflate, which is raw RFC 1951.', {
      needs: ['deflate'],
    }),
    'bytestream.write.brotli': mustRow('A blob can be written as brotli.', { needs: ['brotli'] }),
    'bytestream.write.compressed-several-messages': mustRow(
      'Offsets of a compressed upload count compressed bytes after the first message.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-offset-mismatch': mustRow(
      'A later message of a compressed upload with the wrong write_offset is refused.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-committed-size': shouldRow(
      'A finished compressed write answers with the compressed bytes sent, or -1.',
      { needs: ['compressor'], note: 'Buck2 accepts nothing else; Bazel also takes the uncompressed size.' },
    ),
    'bytestream.write.compressed-existing': mustRow(
      'Writing a blob that is there in compressed form answers -1 before the client has sent it all.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-hash-mismatch': mustRow(
      'Compressed data that does not match the hash is INVALID_ARGUMENT, and not stored.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-corrupt': mustRow('Data that does not decompress is INVALID_ARGUMENT.', COMPRESSED),
    'bytestream.write.compressed-truncated': mustRow(
      'Compressed data that breaks off is INVALID_ARGUMENT.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-too-long': mustRow(
      'Data that decompresses to more than the size says is INVALID_ARGUMENT.',
      COMPRESSED,
    ),
  },
  'ByteStream.QueryWriteStatus': {
    'bytestream.query.implemented': shouldRow('QueryWriteStatus is implemented.', {
      note: 'Clients manage without: where it is not, the other behaviours that need it are not offered.',
    }),
    'bytestream.query.after-write': mustRow('The name of a finished write is complete.'),
    'bytestream.query.committed-size': mustRow('The name of a finished write is committed to its full size.'),
    'bytestream.query.existing': shouldRow('A blob that is there is complete under any upload id.'),
    'bytestream.query.compressed': shouldRow('A blob that is there is complete under a compressed name.', COMPRESSED),
    'bytestream.query.unknown': shouldRow('A name that nobody wrote to is incomplete with 0 bytes, not an error.', {
      note: 'The ByteStream definition allows NOT_FOUND as well, but Bazel then gives its upload up.',
    }),
    'bytestream.query.partial': mustRow('A write that was broken off is incomplete.', {
      note: 'NOT_FOUND is accepted: a server need not keep what it has of it.',
    }),
  },
} satisfies BehaviourTable
