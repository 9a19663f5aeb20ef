import { systemClock } from '../../src/app/process/clock.ts'
import { type Random, seededRandom } from '../../src/check/random.ts'
import { type Api, reapi } from '../../src/check/reapi/probe/api.ts'
import type { Blob } from '../../src/check/reapi/probe/blob.ts'
import { DIGEST_FNS, type DigestFn, digestWith } from '../../src/check/reapi/probe/digest-functions.ts'
import { type Names, namesIn } from '../../src/check/reapi/probe/names.ts'
import { type Streams, streams } from '../../src/check/reapi/probe/streams.ts'
import { connect } from '../../src/client/connection/connect.ts'
import { rpcClient } from '../../src/client/connection/rpc.ts'
import { parseTarget, type Target } from '../../src/client/connection/target.ts'
import { GrpcError } from '../../src/grpc/status.ts'
import { type StatusReport, statusFromProto } from '../../src/wire/google/status.ts'

export interface CacheClient {
  readonly api: Api
  readonly bytestream: Streams
  readonly names: Names
  readonly random: Random
  /** New content, not uploaded. */
  blob(size?: number): Blob
  blobOf(bytes: Uint8Array): Blob
  /** Uploads by BatchUpdateBlobs; throws the error of the first blob that is refused. */
  put(...blobs: readonly Blob[]): Promise<void>
  write(blob: Blob): Promise<number>
  read(blob: Blob): Promise<Uint8Array>
  /** The blobs that FindMissingBlobs reports. */
  missing(blobs: readonly Blob[]): Promise<readonly Blob[]>
  close(): void
}

export interface ClientOptions {
  readonly instance?: string
  readonly fn?: DigestFn
  readonly seed?: string
}

export const digestFn = (name: string): DigestFn => DIGEST_FNS.find((each) => each.name === name) as DigestFn

/** Our own client, connected to a server's gRPC address, with content that no server has received. */
export function cacheClient(address: string, options: ClientOptions = {}): CacheClient {
  const { instance = '', fn = digestFn('SHA256'), seed = String(Math.random()) } = options
  const channel = connect(parseTarget(`grpc://${address}`) as Target, { clock: systemClock })
  const rpcs = rpcClient(channel)
  const random = seededRandom(seed, 'cache')
  const api = reapi(rpcs, instance, fn)
  const bytestream = streams(rpcs)
  const names = namesIn(instance, fn, random)
  const blobOf = (bytes: Uint8Array): Blob => ({ bytes, digest: digestWith(fn, bytes) })
  return {
    api,
    bytestream,
    names,
    random,
    blobOf,
    blob: (size = 1000) => blobOf(random.bytes(size)),
    async put(...blobs) {
      const answers = await api.batchUpdate(blobs.map(({ digest, bytes }) => ({ digest, data: bytes })))
      const refused = answers.find(({ status }) => (status?.code ?? 0) !== 0)?.status
      if (refused !== undefined) throw new Error(`${refused.code}: ${refused.message}`)
    },
    write: ({ digest, bytes }) => bytestream.write(names.write(digest), bytes),
    read: ({ digest }) => bytestream.read(names.read(digest)),
    async missing(blobs) {
      const absent = new Set((await api.findMissing(blobs.map(({ digest }) => digest))).map(({ hash }) => hash))
      return blobs.filter(({ digest }) => absent.has(digest.hash))
    },
    close: () => channel.close(),
  }
}

/** The status of a refused call, with its details; throws when the call succeeded. */
export async function refusal(call: Promise<unknown>): Promise<StatusReport> {
  const error = await call.then(
    () => new Error('the call succeeded'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof GrpcError)) throw error
  const { code, message, details } = error
  return details === undefined ? { code, message, details: [] } : statusFromProto(details)
}
