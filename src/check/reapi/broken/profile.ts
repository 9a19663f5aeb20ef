import {
  type DeepPartial,
  ServerCapabilities,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { DIGEST_FNS } from '../probe/digest-functions.ts'

/** The capabilities of the reference server; by default all. */
export interface Profile {
  readonly update: boolean
  readonly split: boolean
  readonly splice: boolean
}

export const EVERYTHING: Profile = { update: true, split: true, splice: true }

/** Small, so that checks at the limits are fast. */
export const MAX_BATCH_BYTES = 200_000
export const MAX_BLOB_BYTES = 64 * 1024 * 1024
export const AVERAGE_CHUNK = 4096
export const SMALLEST_CHUNK = 2048

export function capabilitiesFor({ update, split, splice }: Profile): ServerCapabilities {
  const digestFunctions = DIGEST_FNS.map(({ number }) => number)
  const priorities = [{ minPriority: -10, maxPriority: 10 }]
  const parts: DeepPartial<ServerCapabilities> = {
    cacheCapabilities: {
      digestFunctions,
      actionCacheUpdateCapabilities: { updateEnabled: update },
      cachePriorityCapabilities: { priorities },
      maxBatchTotalSizeBytes: MAX_BATCH_BYTES,
      symlinkAbsolutePathStrategy: 2,
      supportedCompressors: [1, 2, 3],
      supportedBatchUpdateCompressors: [1, 2, 3],
      maxCasBlobSizeBytes: MAX_BLOB_BYTES,
      splitBlobSupport: split,
      spliceBlobSupport: splice,
      fastCdc2020Params: { avgChunkSizeBytes: AVERAGE_CHUNK, seed: 0 },
      repMaxCdcParams: { minChunkSizeBytes: SMALLEST_CHUNK, horizonSizeBytes: 8 * SMALLEST_CHUNK },
    },
    executionCapabilities: {
      digestFunction: 1,
      digestFunctions,
      execEnabled: true,
      executionPriorityCapabilities: { priorities },
    },
    lowApiVersion: { major: 2, minor: 0 },
    highApiVersion: { major: 2, minor: 12 },
  }
  return ServerCapabilities.fromPartial(parts)
}
