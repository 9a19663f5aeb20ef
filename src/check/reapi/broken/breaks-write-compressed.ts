import { STATUS } from '../../../grpc/status.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { type Break, fail, misreadMessages, type Received, whenOpened, whenReceived } from './break.ts'

const INVALID = STATUS.invalidArgument
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

const accepted = ({ bytes }: Received) => ({ committedSize: bytes.length })

const startsAsZstd = ({ bytes }: Received): boolean => Buffer.from(bytes.subarray(0, 4)).equals(ZSTD_MAGIC)

/** The decompressed bytes of an upload; undefined when it cannot be decompressed. */
function unpacked({ compressor, bytes }: Received): Uint8Array | undefined {
  try {
    return compressor?.decompress(bytes)
  } catch {
    return undefined
  }
}

const refuses = (compressor: string): Break =>
  whenOpened(({ resourceName }) => resourceName.includes(`-blobs/${compressor}/`), fail(INVALID))

export const compressedWriteBreaks = {
  'bytestream.write.zstd': refuses('zstd'),
  'bytestream.write.deflate': refuses('deflate'),
  'bytestream.write.brotli': refuses('brotli'),
  'bytestream.write.compressed-several-messages': whenReceived(
    ({ compressor, messages }) => compressor !== undefined && messages.length > 1,
    fail(INVALID),
  ),
  'bytestream.write.compressed-offset-mismatch': misreadMessages((message, { index, first, bytes }) =>
    index > 0 && first.resourceName.includes('compressed-blobs') ? { ...message, writeOffset: bytes } : message,
  ),
  'bytestream.write.compressed-committed-size': whenReceived(
    ({ compressor, messages, key }, { store }) => compressor !== undefined && messages.length > 1 && !store.has(key),
    (upload, { store }) => {
      store.put(upload.key, unpacked(upload) ?? new Uint8Array())
      return { committedSize: upload.key.digest.sizeBytes }
    },
  ),
  'bytestream.write.compressed-existing': whenReceived(
    ({ compressor, key }, { store }) => compressor !== undefined && store.has(key),
    ({ key }) => ({ committedSize: key.digest.sizeBytes }),
  ),
  'bytestream.write.compressed-hash-mismatch': whenReceived((upload) => {
    const bytes = unpacked(upload)
    return bytes?.length === upload.key.digest.sizeBytes && upload.key.fn.hash(bytes) !== upload.key.digest.hash
  }, accepted),
  'bytestream.write.compressed-corrupt': whenReceived(
    (upload) => upload.compressor !== undefined && !startsAsZstd(upload) && unpacked(upload) === undefined,
    accepted,
  ),
  'bytestream.write.compressed-truncated': whenReceived(
    (upload) => upload.isFinished && startsAsZstd(upload) && unpacked(upload) === undefined,
    accepted,
  ),
  'bytestream.write.compressed-too-long': whenReceived(
    (upload) => (unpacked(upload)?.length ?? 0) > upload.key.digest.sizeBytes,
    accepted,
  ),
  'find-missing.after-compressed-write': whenReceived(
    ({ compressor, key }, { store }) => compressor !== undefined && !store.has(key),
    accepted,
  ),
} satisfies Partial<Record<BehaviourId, Break>>
