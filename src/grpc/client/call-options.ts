import type { MetadataInit } from '../status.ts'

export interface CallOptions {
  readonly metadata?: MetadataInit
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Whether to wait for a connection, instead of failing with the first failed connection attempt. */
  readonly waitForReady?: boolean
}
