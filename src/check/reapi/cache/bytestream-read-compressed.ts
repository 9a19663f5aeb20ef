import { STATUS } from '../../../grpc/status.ts'
import { expectRefusal, NotOffered, sameBytes } from '../../unmet.ts'
import { advertised, BROTLI, DEFLATE, type TestedCompressor, ZSTD } from '../probe/compressors.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const INVALID = STATUS.invalidArgument

const readsAs =
  ({ name, decompress }: TestedCompressor): Check =>
  async ({ bytestream, names, textBlob, put }) => {
    const { bytes, digest } = await put(textBlob())
    const read = await bytestream.read(names.read(digest, { compressor: name }))
    sameBytes(`the blob as ${name}`, decompress(read), bytes)
  }

/** Behaviours that are the same for every compressor are checked with the first that is advertised. */
export function anyCompressor({ offer }: Probe): TestedCompressor {
  const [first] = advertised(offer.cache)
  if (first === undefined) throw new NotOffered('needs a compressor that this suite knows')
  return first
}

export const compressedReadChecks = {
  'bytestream.read.zstd': readsAs(ZSTD),
  'bytestream.read.deflate': readsAs(DEFLATE),
  'bytestream.read.brotli': readsAs(BROTLI),
  async 'bytestream.read.compressed-large'(probe) {
    const { name, decompress } = anyCompressor(probe)
    const { bytes, digest } = await probe.put(probe.textBlob(5_000_000))
    const read = await probe.bytestream.read(probe.names.read(digest, { compressor: name }))
    sameBytes(`the blob as ${name}`, decompress(read), bytes)
  },
  async 'bytestream.read.compressed-absent'(probe) {
    const name = probe.names.read(probe.blob().digest, { compressor: anyCompressor(probe).name })
    await expectRefusal('the read', STATUS.notFound, probe.bytestream.read(name))
  },
  async 'bytestream.read.compressed-offset'(probe) {
    const { name, decompress } = anyCompressor(probe)
    const { bytes, digest } = await probe.put(probe.textBlob())
    const read = await probe.bytestream.read(probe.names.read(digest, { compressor: name }), { offset: 4_000 })
    sameBytes('from uncompressed offset 4000', decompress(read), bytes.subarray(4_000))
  },
  async 'bytestream.read.compressed-offset-past-end'(probe) {
    const { bytes, digest } = await probe.put(probe.textBlob())
    const name = probe.names.read(digest, { compressor: anyCompressor(probe).name })
    const call = probe.bytestream.read(name, { offset: bytes.length + 1 })
    await expectRefusal('the read', STATUS.outOfRange, call)
  },
  async 'bytestream.read.compressed-offset-negative'(probe) {
    const { digest } = await probe.put(probe.textBlob())
    const name = probe.names.read(digest, { compressor: anyCompressor(probe).name })
    await expectRefusal('the read', [STATUS.outOfRange, INVALID], probe.bytestream.read(name, { offset: -1 }))
  },
  async 'bytestream.read.compressed-limit'(probe) {
    const { digest } = await probe.put(probe.textBlob())
    const name = probe.names.read(digest, { compressor: anyCompressor(probe).name })
    await expectRefusal('the read', INVALID, probe.bytestream.read(name, { limit: 100 }))
  },
  async 'bytestream.read.plain-of-compressed'(probe) {
    const { name, compress } = anyCompressor(probe)
    const { bytes, digest } = probe.textBlob()
    await probe.bytestream.write(probe.names.write(digest, { compressor: name }), compress(bytes))
    sameBytes('the blob', await probe.bytestream.read(probe.names.read(digest)), bytes)
  },
  async 'bytestream.read.every-form'({ offer, textBlob, names, bytestream }) {
    for (const up of advertised(offer.cache)) {
      const { bytes, digest } = textBlob()
      await bytestream.write(names.write(digest, { compressor: up.name }), up.compress(bytes))
      for (const down of advertised(offer.cache)) {
        const read = await bytestream.read(names.read(digest, { compressor: down.name }))
        sameBytes(`the blob, uploaded as ${up.name} and read as ${down.name}`, down.decompress(read), bytes)
      }
    }
  },
} satisfies Partial<Record<BehaviourId, Check>>
