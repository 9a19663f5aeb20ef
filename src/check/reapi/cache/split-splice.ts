import { GrpcError, STATUS } from '../../../grpc/status.ts'
import type {
  ChunkingFunction_Value,
  SplitBlobResponse,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, expectRefusal, NotOffered, same, sameBytes } from '../../unmet.ts'
import type { Blob } from '../probe/blob.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const FAST_CDC = 1
const REP_MAX_CDC = 2

/** A blob in three chunks. The chunks are stored; the blob is not. */
async function threeChunks({ blob, blobOf, put }: Probe): Promise<{ whole: Blob; chunks: readonly Blob[] }> {
  const chunks = [await put(blob(3_000)), await put(blob(5_000)), await put(blob(2_000))]
  return { whole: blobOf(Buffer.concat(chunks.map(({ bytes }) => bytes))), chunks }
}

const digests = (blobs: readonly Blob[]) => blobs.map(({ digest }) => digest)

/**
 * Splits a stored blob. A server that can only split spliced blobs answers NOT_FOUND for others; then the check splices
 * one first.
 */
async function split(probe: Probe, size = 200_000, chunkingFunction: ChunkingFunction_Value = 0) {
  const blob = await probe.put(probe.blob(size))
  try {
    return { blob, answer: await probe.api.split({ blobDigest: blob.digest, chunkingFunction }) }
  } catch (error) {
    if (!(error instanceof GrpcError) || error.code !== STATUS.notFound) throw error
    if (!probe.offer.cache.spliceBlobSupport || chunkingFunction !== 0) {
      throw new NotOffered('the server does not split a blob that was not uploaded in chunks')
    }
  }
  const { whole, chunks } = await threeChunks(probe)
  await probe.api.splice({ blobDigest: whole.digest, chunkDigests: digests(chunks) })
  return { blob: whole, answer: await probe.api.split({ blobDigest: whole.digest }) }
}

/** Applies only if the server used the requested chunking function. */
async function chunkSizes(probe: Probe, size: number, chunkingFunction: ChunkingFunction_Value): Promise<number[]> {
  const { answer } = await split(probe, size, chunkingFunction)
  if (answer.chunkingFunction !== chunkingFunction) throw new NotOffered('the server used another function')
  return answer.chunkDigests.map(({ sizeBytes }) => sizeBytes)
}

function withinBounds(sizes: readonly number[], least: number, most: number): void {
  const outside = sizes.filter((size, index) => size > most || (size < least && index < sizes.length - 1))
  ensure(outside.length === 0, `chunks of ${least} to ${most} bytes`, `some of ${outside.join(', ')}`)
}

async function joined({ bytestream, names }: Probe, { chunkDigests }: SplitBlobResponse): Promise<Uint8Array> {
  return Buffer.concat(await Promise.all(chunkDigests.map((digest) => bytestream.read(names.read(digest)))))
}

export const splitChecks = {
  async 'split.concatenates'(probe) {
    const { blob, answer } = await split(probe)
    sameBytes('the chunks together', await joined(probe, answer), blob.bytes)
  },
  async 'split.chunks-stored'(probe) {
    const { answer } = await split(probe)
    ensure(answer.chunkDigests.length > 0, 'chunks', 'none')
    same('missing chunks:', (await probe.api.findMissing(answer.chunkDigests)).length, 0)
  },
  async 'split.same-function'(probe) {
    const { answer } = await split(probe)
    for (const { hash } of answer.chunkDigests) same('digits:', hash.length, probe.fn.hexLength)
  },
  async 'split.absent'({ api, blob }) {
    await expectRefusal('the call', STATUS.notFound, api.split({ blobDigest: blob().digest }))
  },
  async 'split.any-chunking'(probe) {
    const { digest } = await probe.put(probe.blob(50_000))
    for (const chunkingFunction of [0, FAST_CDC, REP_MAX_CDC] as const) {
      const call = probe.api.split({ blobDigest: digest, chunkingFunction })
      await call.catch((error: unknown) => expectRefusal('the call', STATUS.notFound, Promise.reject(error)))
    }
  },
  async 'split.no-digest'({ api }) {
    await expectRefusal('the call', STATUS.invalidArgument, api.split({}))
  },
  async 'split.fast-cdc-sizes'(probe) {
    const average = probe.offer.cache.fastCdc2020Params?.avgChunkSizeBytes ?? 0
    withinBounds(await chunkSizes(probe, average * 8, FAST_CDC), Math.floor(average / 4), average * 4)
  },
  async 'split.rep-max-cdc-sizes'(probe) {
    const least = probe.offer.cache.repMaxCdcParams?.minChunkSizeBytes ?? 0
    withinBounds(await chunkSizes(probe, least * 8, REP_MAX_CDC), least, 2 * least)
  },
} satisfies Partial<Record<BehaviourId, Check>>

export const spliceChecks = {
  async 'splice.joins'(probe) {
    const { whole, chunks } = await threeChunks(probe)
    await probe.api.splice({ blobDigest: whole.digest, chunkDigests: digests(chunks) })
    sameBytes('the blob', await probe.bytestream.read(probe.names.read(whole.digest)), whole.bytes)
  },
  async 'splice.digest'(probe) {
    const { whole, chunks } = await threeChunks(probe)
    const { blobDigest } = await probe.api.splice({ blobDigest: whole.digest, chunkDigests: digests(chunks) })
    same('hash', blobDigest?.hash ?? 'not set', whole.digest.hash)
    same('size', blobDigest?.sizeBytes ?? -1, whole.digest.sizeBytes)
  },
  async 'splice.repeated-chunk'({ api, blob, blobOf, put, bytestream, names }) {
    const chunk = await put(blob(3_000))
    const { bytes, digest } = blobOf(Buffer.concat([chunk.bytes, chunk.bytes, chunk.bytes]))
    await api.splice({ blobDigest: digest, chunkDigests: [chunk.digest, chunk.digest, chunk.digest] })
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  },
  async 'splice.mismatch'(probe) {
    const { whole, chunks } = await threeChunks(probe)
    const call = probe.api.splice({ blobDigest: whole.digest, chunkDigests: digests(chunks.toReversed()) })
    await expectRefusal('the call', STATUS.invalidArgument, call)
  },
  async 'splice.mismatch-not-stored'(probe) {
    const { whole, chunks } = await threeChunks(probe)
    const call = probe.api.splice({ blobDigest: whole.digest, chunkDigests: digests(chunks.toReversed()) })
    await call.catch(() => {})
    ensure(await probe.isMissing(whole.digest), 'the blob to be reported missing', 'it is not reported missing')
  },
  async 'splice.missing-chunk'({ api, blob, blobOf, put }) {
    const [one, two] = [await put(blob()), blob()]
    const { digest } = blobOf(Buffer.concat([one.bytes, two.bytes]))
    const call = api.splice({ blobDigest: digest, chunkDigests: [one.digest, two.digest] })
    await expectRefusal('the call', STATUS.notFound, call)
  },
  async 'splice.existing'(probe) {
    const { whole, chunks } = await threeChunks(probe)
    await probe.put(whole)
    const call = probe.api.splice({ blobDigest: whole.digest, chunkDigests: digests(chunks) })
    await call.catch((error: unknown) => expectRefusal('the call', STATUS.alreadyExists, Promise.reject(error)))
  },
  async 'splice.no-digest'(probe) {
    const { chunks } = await threeChunks(probe)
    await expectRefusal('the call', STATUS.invalidArgument, probe.api.splice({ chunkDigests: digests(chunks) }))
  },
  async 'splice.then-split'(probe) {
    const { whole, chunks } = await threeChunks(probe)
    await probe.api.splice({ blobDigest: whole.digest, chunkDigests: digests(chunks) })
    const answer = await probe.api.split({ blobDigest: whole.digest })
    sameBytes('the chunks together', await joined(probe, answer), whole.bytes)
  },
} satisfies Partial<Record<BehaviourId, Check>>
