import type { Clock } from '../base/clock.ts'
import type { DigestList } from '../base/digest.ts'
import { digestListOf } from '../base/digest-list.ts'
import { FaultError } from '../base/fault.ts'
import { digestOf } from '../base/hashing/hash-of.ts'
import type { Log } from '../base/log.ts'
import type { BlobStore } from '../storage/blob-store.ts'
import { backoff } from './links/backoff.ts'

export interface ReachStoreOptions {
  readonly store: BlobStore
  /** As the person who started us wrote it. */
  readonly storeName: string
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
}

/**
 * Waits until the store answers, so that a worker may be started before its server: it asks for tasks only when it can
 * fetch their inputs. Throws when the store answers that it will not serve us; resolves early when the signal is aborted.
 */
export async function reachStore(options: ReachStoreOptions, signal: AbortSignal): Promise<void> {
  const { store, storeName, clock, random, log } = options
  const digests = digestListOf('sha256', [digestOf('sha256', Buffer.from('windlass worker'))])
  const tries = backoff(clock, random)
  for (let isTold = false; !signal.aborted; isTold = true) {
    const error = await failureOf(store, digests)
    if (error === undefined || signal.aborted) return
    if (!isPassing(error)) throw refusal(storeName, error)
    if (!isTold) log.warn({ store: storeName, err: error }, 'waiting for the store of the server')
    await tries.pause(signal)
  }
}

async function failureOf(store: BlobStore, digests: DigestList): Promise<Error | undefined> {
  try {
    await store.missing(digests, new Uint8Array(1))
    return undefined
  } catch (error) {
    return error as Error
  }
}

const isPassing = (error: unknown): boolean => error instanceof FaultError && error.fault.kind === 'unavailable'

const refusal = (storeName: string, cause: Error): FaultError =>
  new FaultError(
    { kind: 'denied', what: `the store at ${storeName} does not serve this worker: ${cause.message}` },
    cause,
  )
