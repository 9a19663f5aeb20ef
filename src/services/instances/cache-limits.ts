/** Limits of one call. The same numbers are checked and advertised. */
export interface ReapiLimits {
  /** Blobs in one BatchUpdateBlobs or BatchReadBlobs, together; below what most clients take in one message. */
  readonly maxBatchBytes: number
  readonly maxBlobBytes: number
}

const MiB = 1024 * 1024

/** gRPC clients take 4 MiB in one message unless told otherwise; some of that is digests and framing. */
export const DEFAULT_REAPI_LIMITS: ReapiLimits = {
  maxBatchBytes: 4 * MiB - 128 * 1024,
  maxBlobBytes: 1024 * 1024 * MiB,
}
