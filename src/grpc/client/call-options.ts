import type { MetadataInit } from '../status.ts'

export interface CallOptions {
  readonly metadata?: MetadataInit
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Wait for a connection, instead of failing with the first attempt that fails. */
  readonly waitForReady?: boolean
}
