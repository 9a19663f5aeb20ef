import { FaultError } from '../../base/fault.ts'
import { capabilitiesFromProto, capabilitiesRequestToProto } from '../../wire/reapi/capabilities.ts'
import type { Upstream } from './upstream.ts'

/** The capabilities of an upstream that change our requests. */
export interface Offers {
  readonly zstd: boolean
  /** For blobs in one batch with all that is around them. */
  readonly maxBatchBytes: number
}

const PATH = '/build.bazel.remote.execution.v2.Capabilities/GetCapabilities'
/** The default message limit of gRPC is 4 MiB. */
const MOST_BATCH_BYTES = 4 * 1024 * 1024 - 128 * 1024
/** For a server that does not advertise it. */
const UNSAID: Offers = { zstd: false, maxBatchBytes: MOST_BATCH_BYTES }

/** Asked for when it is first needed, and once it was answered never again. */
export function offersOf(upstream: Upstream, instance: string): () => Promise<Offers> {
  let known: Promise<Offers> | undefined
  const ask = async (): Promise<Offers> => {
    try {
      return await upstream.ask(PATH, capabilitiesRequestToProto(instance), readOffers)
    } catch (error) {
      if (error instanceof FaultError && error.fault.kind === 'invalid') return UNSAID
      known = undefined
      throw error
    }
  }
  return () => (known ??= ask())
}

function readOffers(bytes: Uint8Array): Offers {
  const { cache } = capabilitiesFromProto(bytes)
  const said = cache.maxBatchBytes > 0 ? cache.maxBatchBytes : MOST_BATCH_BYTES
  return { zstd: cache.compressors.includes('zstd'), maxBatchBytes: Math.min(said, MOST_BATCH_BYTES) }
}
