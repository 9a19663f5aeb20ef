import { STATUS } from '../../../grpc/status.ts'
import type { Compressor_Value } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, expectRefusal, NotOffered, same, sameBytes, sameStatus } from '../../unmet.ts'
import type { Blob } from '../probe/blob.ts'
import { advertisedForBatches, BROTLI, DEFLATE, type TestedCompressor, ZSTD } from '../probe/compressors.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const INVALID = STATUS.invalidArgument
/** The largest message that this suite sends. */
const MOST_BYTES = 16 * 1024 * 1024

const upload = ({ bytes, digest }: Blob) => ({ digest, data: bytes })

function batchLimit({ offer }: Probe): number {
  const limit = offer.cache.maxBatchTotalSizeBytes
  if (limit > MOST_BYTES)
    throw new NotOffered(`the limit of ${limit} bytes is larger than the largest message that this suite sends`)
  return limit
}

/** Blobs with this total size. */
export const blobsOf = (total: number, { blob }: Probe): Blob[] => {
  const piece = Math.ceil(total / 4)
  return [0, 1, 2, 3].map((index) => blob(Math.max(0, Math.min(piece, total - index * piece))))
}

const storesAs =
  ({ name, number, compress }: TestedCompressor): Check =>
  async ({ api, textBlob, bytestream, names }) => {
    const { bytes, digest } = textBlob()
    const [answer] = await api.batchUpdate([{ digest, data: compress(bytes), compressor: number }])
    sameStatus(`a blob as ${name}`, answer?.status?.code, STATUS.ok)
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  }

function anyBatchCompressor({ offer }: Probe): TestedCompressor {
  const [first] = advertisedForBatches(offer.cache)
  if (first === undefined) throw new NotOffered('needs a compressor that this suite knows')
  return first
}

export const batchUpdateChecks = {
  async 'batch-update.stores'({ api, blob, bytestream, names }) {
    const blobs = [blob(), blob(50_000), blob(1)]
    for (const { status } of await api.batchUpdate(blobs.map(upload))) sameStatus('a blob', status?.code, STATUS.ok)
    for (const { bytes, digest } of blobs) sameBytes('a blob', await bytestream.read(names.read(digest)), bytes)
  },
  async 'batch-update.answers-each'({ api, blob }) {
    const blobs = [blob(), blob(), blob()]
    const answers = await api.batchUpdate(blobs.map(upload))
    const named = new Set(answers.map(({ digest }) => `${digest?.hash}/${digest?.sizeBytes}`))
    same('answers:', answers.length, 3)
    for (const { digest } of blobs) {
      ensure(named.has(`${digest.hash}/${digest.sizeBytes}`), 'an answer for each digest', [...named].join(' '))
    }
  },
  async 'batch-update.order'({ api, blob }) {
    const blobs = [blob(), blob(), blob(), blob(), blob()]
    const answers = await api.batchUpdate(blobs.map(upload))
    const order = answers.map((each) => blobs.findIndex(({ digest }) => digest.hash === each.digest?.hash) + 1)
    same('order', order.join(' '), '1 2 3 4 5')
  },
  async 'batch-update.existing'({ api, blob, put }) {
    const [answer] = await api.batchUpdate([upload(await put(blob()))])
    sameStatus('a stored blob', answer?.status?.code, STATUS.ok)
  },
  async 'batch-update.duplicates'({ api, blob }) {
    const one = upload(blob())
    for (const { status } of await api.batchUpdate([one, one])) sameStatus('each', status?.code, STATUS.ok)
  },
  async 'batch-update.none'({ api }) {
    same('answers:', (await api.batchUpdate([])).length, 0)
  },
  async 'batch-update.mismatch'({ api, blob }) {
    const [answer] = await api.batchUpdate([{ digest: blob().digest, data: blob().bytes }])
    ensure(answer !== undefined, 'an answer', 'none')
    sameStatus('the blob', answer.status?.code, INVALID)
  },
  async 'batch-update.mismatch-alone'({ api, blob, isMissing }) {
    const [good, wrong] = [blob(), { digest: blob().digest, data: blob().bytes }]
    const answers = await api.batchUpdate([wrong, upload(good)])
    const answer = answers.find(({ digest }) => digest?.hash === good.digest.hash)
    sameStatus('the good blob', answer?.status?.code, STATUS.ok)
    ensure(!(await isMissing(good.digest)), 'the good blob not to be reported missing', 'it is reported missing')
  },
  async 'batch-update.mismatch-not-stored'({ api, blob, isMissing }) {
    const { digest } = blob()
    await api.batchUpdate([{ digest, data: blob().bytes }]).catch(() => {})
    ensure(await isMissing(digest), 'the blob to be reported missing', 'it is not reported missing')
  },
  async 'batch-update.at-limit'(probe) {
    const answers = await probe.api.batchUpdate(blobsOf(batchLimit(probe), probe).map(upload))
    for (const { status } of answers) sameStatus('each', status?.code, STATUS.ok)
  },
  async 'batch-update.over-limit'(probe) {
    const blobs = blobsOf(batchLimit(probe) + 1, probe)
    await expectRefusal('the batch', INVALID, probe.api.batchUpdate(blobs.map(upload)))
  },
  'batch-update.zstd': storesAs(ZSTD),
  'batch-update.deflate': storesAs(DEFLATE),
  'batch-update.brotli': storesAs(BROTLI),
  async 'batch-update.mixed-forms'(probe) {
    const { number, compress } = anyBatchCompressor(probe)
    const [plain, packed] = [probe.textBlob(), probe.textBlob()]
    await probe.api.batchUpdate([
      upload(plain),
      { digest: packed.digest, data: compress(packed.bytes), compressor: number },
    ])
    const missing = await probe.api.findMissing([plain.digest, packed.digest])
    same('reports:', missing.length, 0)
  },
  async 'batch-update.compressed-mismatch'(probe) {
    const { number, compress } = anyBatchCompressor(probe)
    const data = compress(probe.textBlob().bytes)
    const [answer] = await probe.api.batchUpdate([{ digest: probe.textBlob().digest, data, compressor: number }])
    sameStatus('the blob', answer?.status?.code, INVALID)
  },
  async 'batch-update.compressed-corrupt'(probe) {
    const { digest, bytes } = probe.blob()
    const { number } = anyBatchCompressor(probe)
    const [answer] = await probe.api.batchUpdate([{ digest, data: bytes, compressor: number }])
    sameStatus('the blob', answer?.status?.code, INVALID)
  },
  async 'batch-update.unknown-compressor'({ api, blob }) {
    const { bytes, digest } = blob()
    const batch = api.batchUpdate([{ digest, data: bytes, compressor: 99 as Compressor_Value }])
    const answers = await batch.catch((error: unknown) => expectRefusal('the blob', INVALID, Promise.reject(error)))
    if (answers !== undefined) sameStatus('the blob', answers[0]?.status?.code, INVALID)
  },
} satisfies Partial<Record<BehaviourId, Check>>
