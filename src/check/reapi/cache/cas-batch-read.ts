import { STATUS } from '../../../grpc/status.ts'
import type { Compressor_Value } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, expectRefusal, NotOffered, same, sameBytes, sameStatus, Unmet } from '../../unmet.ts'
import type { Blob } from '../probe/blob.ts'
import { compressorNumbered } from '../probe/compressors.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { blobsOf } from './cas-batch-update.ts'

/** The largest batch that fits, with its overhead, into a message that this suite receives. */
const MOST_BYTES = 15 * 1024 * 1024

const digests = (blobs: readonly Blob[]) => blobs.map(({ digest }) => digest)

async function putSeveral({ blob, put }: Probe, count: number): Promise<Blob[]> {
  return await Promise.all(Array.from({ length: count }, () => put(blob())))
}

async function putOf(total: number, probe: Probe): Promise<Blob[]> {
  if (total > MOST_BYTES)
    throw new NotOffered(`the limit of ${total} bytes is larger than the largest message that this suite receives`)
  return await Promise.all(blobsOf(total, probe).map(probe.put))
}

export const batchReadChecks = {
  async 'batch-read.returns'(probe) {
    const blobs = await putSeveral(probe, 3)
    const answers = await probe.api.batchRead(digests(blobs))
    for (const { bytes, digest } of blobs) {
      const answer = answers.find((each) => each.digest?.hash === digest.hash)
      sameStatus('a blob', answer?.status?.code, STATUS.ok)
      sameBytes('a blob', answer?.data ?? new Uint8Array(), bytes)
    }
  },
  async 'batch-read.answers-each'(probe) {
    const blobs = [...(await putSeveral(probe, 2)), probe.blob()]
    const answers = await probe.api.batchRead(digests(blobs))
    same('answers:', answers.length, 3)
    const named = new Set(answers.map(({ digest }) => `${digest?.hash}/${digest?.sizeBytes}`))
    for (const { digest } of blobs) {
      ensure(named.has(`${digest.hash}/${digest.sizeBytes}`), 'an answer for each digest', [...named].join(' '))
    }
  },
  async 'batch-read.order'(probe) {
    const blobs = await putSeveral(probe, 5)
    const answers = await probe.api.batchRead(digests(blobs))
    const order = answers.map((each) => blobs.findIndex(({ digest }) => digest.hash === each.digest?.hash) + 1)
    same('order', order.join(' '), '1 2 3 4 5')
  },
  async 'batch-read.absent'({ api, blob }) {
    const [answer] = await api.batchRead([blob().digest])
    ensure(answer !== undefined, 'an answer', 'none')
    sameStatus('the blob', answer.status?.code, STATUS.notFound)
  },
  async 'batch-read.absent-alone'({ api, blob, put }) {
    const { bytes, digest } = await put(blob())
    const answers = await api.batchRead([blob().digest, digest])
    const answer = answers.find((each) => each.digest?.hash === digest.hash)
    sameStatus('the stored blob', answer?.status?.code, STATUS.ok)
    sameBytes('the stored blob', answer?.data ?? new Uint8Array(), bytes)
  },
  async 'batch-read.none'({ api }) {
    same('answers:', (await api.batchRead([])).length, 0)
  },
  async 'batch-read.plain-by-default'({ api, textBlob, put }) {
    const { bytes, digest } = await put(textBlob())
    const [answer] = await api.batchRead([digest])
    same('compressor', answer?.compressor ?? -1, 0)
    sameBytes('the blob', answer?.data ?? new Uint8Array(), bytes)
  },
  async 'batch-read.acceptable'({ api, textBlob, put }) {
    const { bytes, digest } = await put(textBlob())
    for (const wanted of [1, 2, 3] as const) {
      const [answer] = await api.batchRead([digest], { acceptableCompressors: [wanted] })
      if (answer === undefined) throw new Unmet('an answer', 'none')
      const isFine = answer.compressor === 0 || answer.compressor === wanted
      ensure(isFine, `compressor 0 or ${wanted}`, `${answer.compressor}`)
      const unpack = compressorNumbered(answer.compressor)?.decompress ?? ((data: Uint8Array) => data)
      sameBytes('the blob', unpack(answer.data), bytes)
    }
  },
  async 'batch-read.unknown-compressor'({ api, textBlob, put }) {
    const { bytes, digest } = await put(textBlob())
    const [answer] = await api.batchRead([digest], { acceptableCompressors: [99 as Compressor_Value] })
    same('compressor', answer?.compressor ?? -1, 0)
    sameBytes('the blob', answer?.data ?? new Uint8Array(), bytes)
  },
  async 'batch-read.at-limit'(probe) {
    const blobs = await putOf(probe.offer.cache.maxBatchTotalSizeBytes, probe)
    const answers = await probe.api.batchRead(digests(blobs))
    for (const { status } of answers) sameStatus('each', status?.code, STATUS.ok)
    const total = answers.reduce((sum, { data }) => sum + data.length, 0)
    same('bytes:', total, probe.offer.cache.maxBatchTotalSizeBytes)
  },
  async 'batch-read.over-limit'(probe) {
    const blobs = await putOf(probe.offer.cache.maxBatchTotalSizeBytes + 1, probe)
    await expectRefusal('the batch', STATUS.invalidArgument, probe.api.batchRead(digests(blobs)))
  },
} satisfies Partial<Record<BehaviourId, Check>>
