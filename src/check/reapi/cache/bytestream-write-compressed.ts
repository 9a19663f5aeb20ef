import { STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, same, sameBytes } from '../../unmet.ts'
import type { Blob } from '../probe/blob.ts'
import { BROTLI, DEFLATE, type TestedCompressor, ZSTD } from '../probe/compressors.ts'
import type { Check, Probe } from '../probe/probe.ts'
import { pieces } from '../probe/streams.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { anyCompressor } from './bytestream-read-compressed.ts'
import { halfOfExisting } from './bytestream-write.ts'

const INVALID = STATUS.invalidArgument

const writesAs =
  ({ name, compress }: TestedCompressor): Check =>
  async ({ bytestream, names, textBlob }) => {
    const { bytes, digest } = textBlob()
    await bytestream.write(names.write(digest, { compressor: name }), compress(bytes))
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  }

/** A new blob with its compressed form and the resource name of its upload. */
function packed(probe: Probe, blob: Blob = probe.textBlob()) {
  const { name, compress } = anyCompressor(probe)
  const { bytes, digest } = blob
  return { bytes, digest, data: compress(bytes), resourceName: probe.names.write(digest, { compressor: name }), name }
}

export const compressedWriteChecks = {
  'bytestream.write.zstd': writesAs(ZSTD),
  'bytestream.write.deflate': writesAs(DEFLATE),
  'bytestream.write.brotli': writesAs(BROTLI),
  async 'bytestream.write.compressed-several-messages'(probe) {
    const { bytes, digest, data, resourceName } = packed(probe)
    await probe.bytestream.write(resourceName, data, { pieceBytes: 100 })
    sameBytes('the blob', await probe.bytestream.read(probe.names.read(digest)), bytes)
  },
  async 'bytestream.write.compressed-offset-mismatch'(probe) {
    const { data, resourceName } = packed(probe)
    const messages = pieces(resourceName, data, 100).map((each, index) =>
      index === 0 ? each : { ...each, writeOffset: (each.writeOffset ?? 0) + 1 },
    )
    const codes = [INVALID, STATUS.failedPrecondition, STATUS.outOfRange, STATUS.unknown, STATUS.aborted]
    await expectRefusal('a second message one byte too far', codes, probe.bytestream.send(messages))
  },
  async 'bytestream.write.compressed-committed-size'(probe) {
    const { data, resourceName } = packed(probe)
    const size = await probe.bytestream.write(resourceName, data, { pieceBytes: 100 })
    ensure(size === data.length || size === -1, `committed_size ${data.length} or -1`, `${size}`)
  },
  async 'bytestream.write.compressed-existing'(probe) {
    const { name, compress } = anyCompressor(probe)
    const { bytes, digest } = await probe.put(probe.blob(1024 * 1024))
    const answer = await halfOfExisting(probe, { bytes: compress(bytes), digest }, name)
    ensure(answer !== undefined, 'an answer after the first kilobyte', 'none while the stream was open')
    same('committed_size', answer.committedSize, -1)
  },
  async 'bytestream.write.compressed-hash-mismatch'(probe) {
    const { resourceName, digest } = packed(probe)
    const other = packed(probe)
    await expectRefusal('the write', INVALID, probe.bytestream.write(resourceName, other.data))
    ensure(await probe.isMissing(digest), 'the blob to be reported missing', 'it is not reported missing')
  },
  async 'bytestream.write.compressed-corrupt'(probe) {
    const { resourceName } = packed(probe)
    await expectRefusal('the write', INVALID, probe.bytestream.write(resourceName, probe.random.bytes(2_000)))
  },
  async 'bytestream.write.compressed-truncated'(probe) {
    const { data, resourceName } = packed(probe)
    const call = probe.bytestream.write(resourceName, data.subarray(0, data.length - 20))
    await expectRefusal('the write', INVALID, call)
  },
  async 'bytestream.write.compressed-too-long'(probe) {
    const { bytes, digest } = probe.textBlob()
    const { name, compress } = anyCompressor(probe)
    const longer = compress(Buffer.concat([bytes, new Uint8Array(5_000_000)]))
    const call = probe.bytestream.write(probe.names.write(digest, { compressor: name }), longer)
    await expectRefusal('the write', INVALID, call)
  },
  async 'bytestream.query.compressed'(probe) {
    const { digest } = await probe.put(probe.textBlob())
    const { name } = anyCompressor(probe)
    const { complete } = await probe.bytestream.query(probe.names.write(digest, { compressor: name }))
    ensure(complete, 'complete', 'incomplete')
  },
  async 'find-missing.after-compressed-write'(probe) {
    const { digest, data, resourceName } = packed(probe)
    await probe.bytestream.write(resourceName, data)
    ensure(!(await probe.isMissing(digest)), 'the blob not to be reported missing', 'it is reported missing')
  },
} satisfies Partial<Record<BehaviourId, Check>>
