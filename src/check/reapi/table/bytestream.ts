import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const COMPRESSED = { needs: ['compressor'] } as const

export const BYTESTREAM = {
  'Resource names': {
    'names.slashed-instance': mustRow('An instance name with slashes is accepted in resource names.', {
      needs: ['slashed-instance'],
    }),
    'names.write-metadata': mustRow('Segments after the size in the resource name of an upload are ignored.'),
    'names.uuid-again': mustRow('Uploads of several blobs may use the same upload id.'),
    'names.needless-segment': shouldRow(
      'A resource name with a `sha256` segment, which must be omitted, returns INVALID_ARGUMENT.',
      {
        since: '2.5',
        needs: ['sha256'],
      },
    ),
    'names.identity-read': mustRow('Reading compressed-blobs/identity is rejected.', {
      note: 'The specification allows only compressors other than identity there.',
    }),
    'names.identity-write': mustRow('Writing compressed-blobs/identity is rejected.'),
    'names.unknown-compressor-read': shouldRow('Reading with an unknown compressor is rejected.'),
    'names.unknown-compressor-write': shouldRow('Writing with an unknown compressor is rejected.'),
    'names.malformed-read': shouldRow('Reading an invalid resource name returns INVALID_ARGUMENT.'),
    'names.malformed-write': shouldRow('Writing to an invalid resource name returns INVALID_ARGUMENT.'),
    'names.malformed-query': shouldRow('QueryWriteStatus for an invalid resource name returns INVALID_ARGUMENT.'),
    'names.size-not-a-number': shouldRow('A size that is not a number returns INVALID_ARGUMENT.'),
    'names.header-accepted': mustRow('A resource-name header with the name of the request is accepted.'),
    'names.header-mismatch': shouldRow(
      'A resource-name header with the name of another blob returns INVALID_ARGUMENT.',
      {
        since: '2.12',
        note: 'The specification requires the header of clients. A proxy may route by it, so a server should verify it.',
      },
    ),
  },
  'ByteStream.Read': {
    'bytestream.read.whole': mustRow('A blob is returned completely.'),
    'bytestream.read.large': mustRow(
      'A blob larger than the message limit is returned completely, in several messages.',
    ),
    'bytestream.read.message-size': shouldRow('No message is larger than the 4 MiB that clients accept by default.'),
    'bytestream.read.absent': mustRow('A missing blob returns NOT_FOUND before any data.'),
    'bytestream.read.offset': mustRow('read_offset skips that many bytes.'),
    'bytestream.read.offset-at-end': mustRow('read_offset equal to the size returns no data and no error.'),
    'bytestream.read.offset-past-end': mustRow('read_offset past the end returns OUT_OF_RANGE.'),
    'bytestream.read.offset-negative': mustRow('A negative read_offset is rejected.', {
      note: 'The ByteStream definition requires OUT_OF_RANGE; some servers return INVALID_ARGUMENT. Both are accepted.',
    }),
    'bytestream.read.limit': mustRow('read_limit ends the data after that many bytes.'),
    'bytestream.read.limit-past-end': mustRow('read_limit past the end returns the rest of the blob.'),
    'bytestream.read.limit-negative': mustRow('A negative read_limit is rejected.'),
    'bytestream.read.offset-and-limit': mustRow('read_offset and read_limit together return a range of the blob.'),
    'bytestream.read.concurrent': mustRow('Many concurrent readers of one blob all get it.'),
    'bytestream.read.slow-reader': mustRow('A reader that pauses gets the rest when it continues.'),
    'bytestream.read.cancelled': mustRow('After a cancelled read, the next reader gets the complete blob.'),
    'bytestream.read.zstd': mustRow('A blob uploaded uncompressed can be read as zstd.', { needs: ['zstd'] }),
    'bytestream.read.deflate': mustRow('A blob uploaded uncompressed can be read as deflate (raw RFC 1951).', {
      needs: ['deflate'],
    }),
    'bytestream.read.brotli': mustRow('A blob uploaded uncompressed can be read as brotli.', { needs: ['brotli'] }),
    'bytestream.read.compressed-large': mustRow('A large blob can be read compressed.', COMPRESSED),
    'bytestream.read.compressed-absent': mustRow('A compressed read of a missing blob returns NOT_FOUND.', COMPRESSED),
    'bytestream.read.compressed-offset': mustRow(
      'read_offset of a compressed read counts uncompressed bytes.',
      COMPRESSED,
    ),
    'bytestream.read.compressed-offset-past-end': mustRow(
      'A compressed read with read_offset past the end returns OUT_OF_RANGE.',
      COMPRESSED,
    ),
    'bytestream.read.compressed-offset-negative': mustRow(
      'A compressed read with a negative read_offset is rejected.',
      COMPRESSED,
    ),
    'bytestream.read.compressed-limit': mustRow(
      'A compressed read with a read_limit returns INVALID_ARGUMENT.',
      COMPRESSED,
    ),
    'bytestream.read.plain-of-compressed': mustRow('A blob uploaded compressed can be read uncompressed.', COMPRESSED),
    'bytestream.read.every-form': mustRow(
      'A blob uploaded in any advertised form can be read in every advertised form.',
      COMPRESSED,
    ),
  },
  'ByteStream.Write': {
    'bytestream.write.one-message': mustRow('A blob can be written in one message.'),
    'bytestream.write.several-messages': mustRow('A blob can be written in several messages.'),
    'bytestream.write.large': mustRow('A blob larger than the message limit can be written.'),
    'bytestream.write.committed-size': mustRow('A finished write returns the size of the blob.'),
    'bytestream.write.name-once': mustRow('The resource name is needed in the first message only.'),
    'bytestream.write.name-repeated': mustRow('The resource name may be repeated in every message.'),
    'bytestream.write.name-changed': shouldRow('A resource name that changes during a write is rejected.'),
    'bytestream.write.empty-message': mustRow('A message without data is accepted during a write.'),
    'bytestream.write.finish-alone': mustRow('The last message may contain only finish_write, without data.'),
    'bytestream.write.offset-mismatch': mustRow('A later message with a wrong write_offset is rejected.'),
    'bytestream.write.offset-first': mustRow('A new upload that does not start at offset 0 is rejected.'),
    'bytestream.write.existing-answers-at-once': mustRow(
      'A write of a stored blob returns before the client has sent all of it.',
    ),
    'bytestream.write.existing-committed-size': mustRow(
      'A write of a stored blob returns its full size, regardless of the bytes sent.',
    ),
    'bytestream.write.existing-late-data': mustRow('Data that arrives after the early response is not an error.'),
    'bytestream.write.overtaken': mustRow('An upload returns OK if another upload of the same blob finishes first.'),
    'bytestream.write.concurrent': mustRow(
      'Many concurrent uploads of one blob all return OK, and the blob is complete.',
    ),
    'bytestream.write.hash-mismatch': mustRow('Data that does not match the hash returns INVALID_ARGUMENT.'),
    'bytestream.write.hash-mismatch-not-stored': mustRow('Data that does not match the hash is not stored.'),
    'bytestream.write.too-short': mustRow('A write with fewer bytes than the size returns INVALID_ARGUMENT.'),
    'bytestream.write.too-long': mustRow('A write with more bytes than the size returns INVALID_ARGUMENT.'),
    'bytestream.write.unfinished': mustRow('A stream that is closed without finish_write stores no blob.'),
    'bytestream.write.unfinished-answer': mustRow(
      'A stream that is closed without finish_write does not return the full size.',
    ),
    'bytestream.write.no-message': shouldRow('A stream that is closed without any message is rejected.'),
    'bytestream.write.cancelled': mustRow('After a cancelled upload, the same blob can be uploaded.'),
    'bytestream.write.resume': shouldRow(
      'An interrupted upload can continue at the offset that QueryWriteStatus returns.',
    ),
    'bytestream.write.over-limit': shouldRow('A blob above max_cas_blob_size_bytes returns INVALID_ARGUMENT.', {
      since: '2.12',
      needs: ['blob-limit'],
    }),
    'bytestream.write.zstd': mustRow('A blob can be written as zstd.', { needs: ['zstd'] }),
    'bytestream.write.deflate': mustRow('A blob can be written as deflate (raw RFC 1951).', {
      needs: ['deflate'],
    }),
    'bytestream.write.brotli': mustRow('A blob can be written as brotli.', { needs: ['brotli'] }),
    'bytestream.write.compressed-several-messages': mustRow(
      'Offsets of a compressed upload count compressed bytes after the first message.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-offset-mismatch': mustRow(
      'A later message of a compressed upload with a wrong write_offset is rejected.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-committed-size': shouldRow(
      'A finished compressed write returns the number of compressed bytes sent, or -1.',
      { needs: ['compressor'], note: 'Buck2 accepts nothing else; Bazel also accepts the uncompressed size.' },
    ),
    'bytestream.write.compressed-existing': mustRow(
      'A compressed write of a stored blob returns -1 before the client has sent all of it.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-hash-mismatch': mustRow(
      'Compressed data that does not match the hash returns INVALID_ARGUMENT and is not stored.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-corrupt': mustRow(
      'Data that does not decompress returns INVALID_ARGUMENT.',
      COMPRESSED,
    ),
    'bytestream.write.compressed-truncated': mustRow('Truncated compressed data returns INVALID_ARGUMENT.', COMPRESSED),
    'bytestream.write.compressed-too-long': mustRow(
      'Data that decompresses to more bytes than the size returns INVALID_ARGUMENT.',
      COMPRESSED,
    ),
  },
  'ByteStream.QueryWriteStatus': {
    'bytestream.query.implemented': shouldRow('QueryWriteStatus is implemented.', {
      note: 'Clients work without it. If it is not implemented, the other behaviours that need it are not offered.',
    }),
    'bytestream.query.after-write': mustRow('The name of a finished write is complete.'),
    'bytestream.query.committed-size': mustRow('The committed_size of a finished write is its full size.'),
    'bytestream.query.existing': shouldRow('A stored blob is complete with any upload id.'),
    'bytestream.query.compressed': shouldRow('A stored blob is complete with a compressed resource name.', COMPRESSED),
    'bytestream.query.unknown': shouldRow(
      'A resource name without any write is incomplete with 0 bytes, not an error.',
      {
        note: 'The ByteStream definition also allows NOT_FOUND, but then Bazel aborts its upload.',
      },
    ),
    'bytestream.query.partial': mustRow('An interrupted write is incomplete.', {
      note: 'NOT_FOUND is accepted: a server may discard the received data.',
    }),
  },
} satisfies BehaviourTable
