import type { DigestFunction } from '../base/digest.ts'
import type { Compressor } from './compressor.ts'

/**
 * The capabilities that an instance advertises. Clients plan their requests by them, so they never include more than
 * the server supports.
 */
export interface ServerCapabilities {
  readonly cache: CacheCapabilities
  /** Undefined where nothing is executed. */
  readonly execution: ExecutionCapabilities | undefined
  readonly lowApiVersion: ApiVersion
  readonly highApiVersion: ApiVersion
  readonly deprecatedApiVersion: ApiVersion | undefined
}

export interface ApiVersion {
  readonly major: number
  readonly minor: number
}

export interface CacheCapabilities {
  readonly digestFunctions: readonly DigestFunction[]
  /** Whether this caller may store results of actions. */
  readonly updateEnabled: boolean
  readonly priorities: readonly PriorityRange[]
  /** For the batch calls; never 0, which some clients take literally. */
  readonly maxBatchBytes: number
  /** 0 for no limit. */
  readonly maxBlobBytes: number
  readonly absoluteSymlinks: 'allowed' | 'disallowed'
  readonly compressors: readonly Compressor[]
  readonly batchUpdateCompressors: readonly Compressor[]
  readonly splitBlob: boolean
  readonly spliceBlob: boolean
  readonly fastCdc: FastCdcParams | undefined
  readonly repMaxCdc: RepMaxCdcParams | undefined
}

export interface ExecutionCapabilities {
  readonly enabled: boolean
  /** Clients that support only one function get the first. */
  readonly digestFunctions: readonly DigestFunction[]
  readonly priorities: readonly PriorityRange[]
  readonly nodeProperties: readonly string[]
}

/** Both ends included; a lower number is sooner, or kept for longer. */
export interface PriorityRange {
  readonly min: number
  readonly max: number
}

/** How a client should cut large blobs into chunks, so that others cut them alike. */
export interface FastCdcParams {
  readonly averageChunkBytes: number
  readonly seed: number
}

export interface RepMaxCdcParams {
  readonly minChunkBytes: number
  readonly horizonBytes: number
}
