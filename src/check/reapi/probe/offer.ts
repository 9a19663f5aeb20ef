import {
  CacheCapabilities,
  type ExecutionCapabilities,
  type ServerCapabilities,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { DIGEST_FNS, type DigestFn } from './digest-functions.ts'

/** The capabilities that the server advertises for one instance. */
export interface ServerOffer {
  readonly instance: string
  readonly capabilities: ServerCapabilities
  readonly cache: CacheCapabilities
  readonly execution: ExecutionCapabilities | undefined
  /** The reason why no worker executes commands; undefined if a worker does. */
  readonly idle?: string
  /** The advertised functions that this suite implements. */
  readonly functions: readonly DigestFn[]
  /** The one that checks use when they are not about functions. */
  readonly fn: DigestFn
}

export function serverOffer(capabilities: ServerCapabilities, instance: string): ServerOffer {
  const cache = capabilities.cacheCapabilities ?? CacheCapabilities.fromPartial({})
  const functions = DIGEST_FNS.filter(({ number }) => cache.digestFunctions.includes(number))
  const execution = capabilities.executionCapabilities
  // A server that advertises nothing usable fails the checks about that; the others still need a function to try.
  const first = functions.find(({ number }) => number === cache.digestFunctions[0])
  const fn = first ?? functions[0] ?? (DIGEST_FNS[0] as DigestFn)
  return { instance, capabilities, cache, execution: execution?.execEnabled ? execution : undefined, functions, fn }
}
