import type { Clock } from '../../../base/clock.ts'
import { rpcClient } from '../../../client/connection/rpc.ts'
import type { Channel } from '../../../grpc/client/channel.ts'
import { GrpcError } from '../../../grpc/status.ts'
import type { Digest, Platform_Property } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { type Random, seededRandom } from '../../random.ts'
import { statusText, Unmet } from '../../unmet.ts'
import { type Api, reapi } from './api.ts'
import type { Blob } from './blob.ts'
import { type DigestFn, digestWith, fieldOf } from './digest-functions.ts'
import { type Executions, executions } from './executions.ts'
import { type Names, namesIn } from './names.ts'
import type { ServerOffer } from './offer.ts'
import { type OperationCalls, operationCalls } from './operation-calls.ts'
import { type Streams, streams } from './streams.ts'
import { uploadAction } from './upload-action.ts'

/** The environment of one check: a server and new random content. */
export interface Probe {
  readonly offer: ServerOffer
  readonly fn: DigestFn
  readonly api: Api
  readonly bytestream: Streams
  readonly executions: Executions
  readonly operations: OperationCalls
  readonly names: Names
  readonly random: Random
  /** Fresh content, not uploaded. */
  blob(size?: number): Blob
  /** The same, of a kind that compresses well. */
  textBlob(size?: number): Blob
  /** These bytes under their digest. */
  blobOf(bytes: Uint8Array): Blob
  /** Uploads what a check needs to be there. */
  put<B extends Blob>(blob: B): Promise<B>
  isMissing(digest: Digest): Promise<boolean>
  /** The same server under another instance name. */
  elsewhere(instance: string): Api
  /** The same server, spoken to with digests of another function. */
  under(fn: DigestFn): Probe
  pause(ms: number): Promise<void>
  /** Resolves with the promise, or with undefined after a quarter of the deadline. */
  soon<T>(promise: Promise<T>): Promise<T | undefined>
}

export type Check = (probe: Probe) => Promise<void>

export interface ProbeOptions {
  readonly channel: Channel
  readonly offer: ServerOffer
  readonly seed: string
  readonly id: string
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly deadlineMs: number
  /** Platform properties of all commands. */
  readonly platform?: readonly Platform_Property[]
}

export function createProbe(options: ProbeOptions): Probe {
  const { channel, offer, seed, id, signal, clock, deadlineMs, platform = [] } = options
  const { fn, instance } = offer
  const rpcs = rpcClient(channel, { signal })
  const random = seededRandom(seed, id)
  const names = namesIn(instance, fn, random)
  const bytestream = streams(rpcs)
  const api = reapi(rpcs, instance, fn)
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))
  const blobOf = (bytes: Uint8Array): Blob => ({ bytes, digest: digestWith(fn, bytes) })
  const put = async <B extends Blob>(blob: B): Promise<B> => {
    await preparing(bytestream.write(names.write(blob.digest), blob.bytes))
    return blob
  }
  const store = uploadAction({ random, blobOf, put, platform })
  return {
    offer,
    fn,
    api,
    bytestream,
    executions: executions({ channel, signal, instance, digestFunction: fieldOf(fn), store }),
    operations: operationCalls(rpcs),
    names,
    random,
    blob: (size = 1_000) => blobOf(random.bytes(size)),
    textBlob: (size = 10_000) => blobOf(random.text(size)),
    blobOf,
    put,
    isMissing: async (digest) => (await api.findMissing([digest])).length > 0,
    elsewhere: (other) => reapi(rpcs, other, fn),
    under: (other) => createProbe({ ...options, offer: { ...offer, fn: other } }),
    pause,
    soon: (promise) => Promise.race([promise, pause(deadlineMs / 4).then(() => undefined)]),
  }
}

/** A failure before the check came to its point should not read as if it were the point. */
async function preparing(upload: Promise<unknown>): Promise<void> {
  try {
    await upload
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    throw new Unmet('success of an upload that the check needs', statusText(error))
  }
}
