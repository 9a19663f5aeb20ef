import { GrpcError, STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, sameBytes, sameStatus, statusText, Unmet } from '../../unmet.ts'
import { resultFrom, storedAction } from '../probe/actions.ts'
import { advertised, advertisedForBatches } from '../probe/compressors.ts'
import { digestWith } from '../probe/digest-functions.ts'
import type { Check } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

/** Everything that is advertised must exist. */
export const advertisedWorksChecks = {
  async 'capabilities.digest-functions-work'({ api, offer, random }) {
    for (const fn of offer.functions) {
      const data = random.bytes(500)
      const digest = digestWith(fn, data)
      const [answer] = await api.batchUpdate([{ digest, data }], { digestFunction: fn.number })
      sameStatus(`a blob under ${fn.name}`, answer?.status?.code, STATUS.ok)
      const missing = await api.findMissing([digest], { digestFunction: fn.number })
      ensure(missing.length === 0, `the blob not to be reported missing with ${fn.name}`, 'it is reported missing')
    }
  },
  async 'capabilities.compressors-work'({ offer, textBlob, names, bytestream }) {
    for (const { name, compress, decompress } of advertised(offer.cache)) {
      const { bytes, digest } = textBlob()
      await bytestream.write(names.write(digest, { compressor: name }), compress(bytes))
      const back = await bytestream.read(names.read(digest, { compressor: name }))
      sameBytes(`the blob as ${name}`, decompress(back), bytes)
    }
  },
  async 'capabilities.batch-compressors-work'({ offer, textBlob, api }) {
    for (const { name, number, compress } of advertisedForBatches(offer.cache)) {
      const { bytes, digest } = textBlob()
      const [answer] = await api.batchUpdate([{ digest, data: compress(bytes), compressor: number }])
      sameStatus(`a blob as ${name}`, answer?.status?.code, STATUS.ok)
    }
  },
  async 'capabilities.update-works'(probe) {
    const { action } = await storedAction(probe)
    await probe.api.updateResult({ actionDigest: action.digest, actionResult: resultFrom({}) })
  },
  async 'capabilities.split-works'({ api, blob, put }) {
    const { digest } = await put(blob())
    await implemented('SplitBlob', api.split({ blobDigest: digest }))
  },
  async 'capabilities.splice-works'({ api, blob, put }) {
    const { digest } = await put(blob())
    await implemented('SpliceBlob', api.splice({ blobDigest: digest, chunkDigests: [digest] }))
  },
  async 'capabilities.split-declared'({ api, blob, put }) {
    const { digest } = await put(blob())
    await expectRefusal('SplitBlob', STATUS.unimplemented, api.split({ blobDigest: digest }))
  },
  async 'capabilities.splice-declared'({ api, blob, put }) {
    const { digest } = await put(blob())
    const call = api.splice({ blobDigest: digest, chunkDigests: [digest] })
    await expectRefusal('SpliceBlob', STATUS.unimplemented, call)
  },
} satisfies Partial<Record<BehaviourId, Check>>

/** Other behaviours check whether it works correctly. */
async function implemented(what: string, call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    if (error.code === STATUS.unimplemented) throw new Unmet(`${what} to be implemented`, statusText(error))
  }
}
