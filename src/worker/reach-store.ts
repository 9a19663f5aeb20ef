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
  /** The address in the settings. */
  readonly storeName: string
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /** Called with the cause when the first try fails. */
  readonly waits?: ((what: string) => void) | undefined
}

/**
 * Waits until the store answers, so that a worker can be started before its server. The worker requests tasks only when
 * it can fetch their inputs. Throws when the store refuses this worker; resolves early when the signal is aborted.
 */
export async function reachStore(options: ReachStoreOptions, signal: AbortSignal): Promise<void> {
  const { store, storeName, clock, random, log } = options
  const digests = digestListOf('sha256', [digestOf('sha256', Buffer.from('windlass worker'))])
  const tries = backoff(clock, random)
  for (let isLogged = false; !signal.aborted; isLogged = true) {
    const error = await Promise.race([failureOf(store, digests), aborted(signal)])
    if (error === undefined || signal.aborted) return
    if (!isTemporary(error)) throw refusal(storeName, error)
    if (!isLogged) {
      log.warn({ store: storeName, err: error }, 'waiting for the store of the server')
      options.waits?.(error.message)
    }
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

/** Resolves on abort: a call to a host that drops packets ends minutes later, and must not delay the worker's stop. */
const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
    if (signal.aborted) resolve(undefined)
  })

const isTemporary = (error: unknown): boolean => error instanceof FaultError && error.fault.kind === 'unavailable'

const refusal = (storeName: string, cause: Error): FaultError =>
  new FaultError(
    { kind: 'denied', what: `the store at ${storeName} does not serve this worker: ${cause.message}` },
    cause,
  )
