import { FaultError } from '../../base/fault.ts'
import { capabilitiesFromProto, capabilitiesRequestToProto } from '../../wire/reapi/capabilities.ts'
import type { Upstream } from './upstream.ts'

/** The capabilities of an upstream that change our requests. */
export interface Offers {
  readonly zstd: boolean
  /** The most bytes of blobs and their message fields in one batch. */
  readonly maxBatchBytes: number
}

const PATH = '/build.bazel.remote.execution.v2.Capabilities/GetCapabilities'
/** The default message limit of gRPC is 4 MiB; 128 KiB of it are left for the rest of the message. */
const MOST_BATCH_BYTES = 4 * 1024 * 1024 - 128 * 1024
/** Used for an upstream that does not implement GetCapabilities. */
const UNSAID: Offers = { zstd: false, maxBatchBytes: MOST_BATCH_BYTES }

/** The returned function calls GetCapabilities on first use and caches the first successful answer. */
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
  const offered = cache.maxBatchBytes > 0 ? cache.maxBatchBytes : MOST_BATCH_BYTES
  return { zstd: cache.compressors.includes('zstd'), maxBatchBytes: Math.min(offered, MOST_BATCH_BYTES) }
}
