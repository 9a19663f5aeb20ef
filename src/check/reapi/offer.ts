import {
  CacheCapabilities,
  type ExecutionCapabilities,
  type ServerCapabilities,
} from '../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { ReapiBehaviour } from './behaviours.ts'
import { DIGEST_FNS, type DigestFn } from './digest-functions.ts'
import { isMet, needSays, tellsVersion } from './needs.ts'

/** What the server says it can do, for one instance. */
export interface Offer {
  readonly instance: string
  readonly capabilities: ServerCapabilities
  readonly cache: CacheCapabilities
  readonly execution: ExecutionCapabilities | undefined
  /** Why nothing that is executed gets done, where that was found out. */
  readonly idle?: string
  /** Advertised, and within what this suite can compute. */
  readonly functions: readonly DigestFn[]
  /** The one that checks use when they are not about functions. */
  readonly fn: DigestFn
}

export function offerOf(capabilities: ServerCapabilities, instance: string): Offer {
  const cache = capabilities.cacheCapabilities ?? CacheCapabilities.fromPartial({})
  const functions = DIGEST_FNS.filter(({ number }) => cache.digestFunctions.includes(number))
  const execution = capabilities.executionCapabilities
  // A server that advertises nothing usable fails the checks about that; the others still need a function to try.
  const first = functions.find(({ number }) => number === cache.digestFunctions[0])
  const fn = first ?? functions[0] ?? (DIGEST_FNS[0] as DigestFn)
  return { instance, capabilities, cache, execution: execution?.execEnabled ? execution : undefined, functions, fn }
}

/** Why a behaviour does not apply to this server; undefined when it does. */
export function unoffered({ needs, since }: ReapiBehaviour, offer: Offer): string | undefined {
  const unmet = needs.find((need) => !isMet(need, offer))
  if (unmet === 'worker' && offer.idle !== undefined) return `needs ${needSays(unmet)}: ${offer.idle}`
  if (unmet !== undefined) return `needs ${needSays(unmet)}`
  const high = offer.capabilities.highApiVersion
  // Who advertises a thing of a later version speaks for itself.
  if (high === undefined || needs.some(tellsVersion)) return undefined
  const [major = 0, minor = 0] = since.split('.').map(Number)
  const isOlder = high.major < major || (high.major === major && high.minor < minor)
  return isOlder ? `came with API ${since}; the server speaks up to ${high.major}.${high.minor}` : undefined
}
