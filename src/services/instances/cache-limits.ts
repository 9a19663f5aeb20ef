/** Limits of one call. The same numbers are checked and advertised. */
export interface ReapiLimits {
  /** The total size of the blobs in one BatchUpdateBlobs or BatchReadBlobs, below the message limit of most clients. */
  readonly maxBatchBytes: number
  readonly maxBlobBytes: number
}

const MiB = 1024 * 1024

/** gRPC clients accept 4 MiB per message by default; this leaves room for digests and framing. */
export const DEFAULT_REAPI_LIMITS: ReapiLimits = {
  maxBatchBytes: 4 * MiB - 128 * 1024,
  maxBlobBytes: 1024 * 1024 * MiB,
}
