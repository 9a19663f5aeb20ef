/** The caller of a request: its address and network, and how many requests per second it may send. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import type { Context } from 'hono'
import type { Clock } from '../../../base/clock.ts'
import type { HttpError } from './http-error.ts'

declare module 'hono' {
  interface ContextVariableMap {
    callerAddress: string
  }
}

/** The address of callers over a socket file: they are on this machine, and have no address. */
export const BY_SOCKET_FILE = 'unix'

/** The address that the connection comes from. */
export function peerOf(c: Context): string {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  const address = incoming?.socket.remoteAddress
  return address === undefined ? BY_SOCKET_FILE : plainAddress(address)
}

/** One address for a caller that uses both an IPv4 and an IPv6 socket. */
export const plainAddress = (address: string): string =>
  /^::ffff:[0-9.]+$/i.test(address) ? address.slice(7) : address

/** The network that a limit per address applies to. With IPv6 a household has 2^64 addresses: the first half counts. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [before = '', after] = address.split('::')
  const [front, back] = [groupsOf(before), groupsOf(after ?? '')]
  const zeros = after === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0')
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`
}

const groupsOf = (text: string): string[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16).toString(16))

export interface RateLimits {
  /** Does not apply to callers over a socket file: they have no address. Unlimited when undefined. */
  readonly perAddress?: RequestRate | undefined
  /** Applies to a key, from any address, in addition to the limit per address: a caller can invent keys. */
  readonly perKey?: RequestRate | undefined
}

/** Returns the refusal of a request above a limit, and counts the request. */
export function rateLimits({ perAddress, perKey }: RateLimits, clock: Clock) {
  const addresses = perAddress && new TokenBuckets(perAddress, clock)
  const keys = perKey && new TokenBuckets(perKey, clock)
  return (c: Context): HttpError | undefined => {
    if (isUnlimited(c.req.path)) return undefined
    const address = c.get('callerAddress')
    const key = keyOf(c)
    const waitMs = Math.max(
      address === BY_SOCKET_FILE ? 0 : (addresses?.take(networkOf(address)) ?? 0),
      key === undefined ? 0 : (keys?.take(key) ?? 0),
    )
    return waitMs === 0 ? undefined : tooMany(waitMs)
  }
}

/**
 * Probes must be answered under any load. A build sends more requests to a cache than a person would. Workers, of which
 * many may share an address, send requests for each task.
 */
const isUnlimited = (path: string): boolean =>
  PROBES.has(path) ||
  /\/(?:cas|ac)\/[0-9a-f]{32,128}$/.test(path) ||
  /^\/api\/v1\/workers\/[^/]+\/(?:work|heartbeat|orders|tasks\/[^/]+\/(?:status|complete))$/.test(path)
const PROBES = new Set(['/healthz', '/readyz', '/metrics'])

/** Hashes the key of a request: it may be a secret, and its bucket stays in memory. */
function keyOf(c: Context): string | undefined {
  const shown = c.req.header('authorization') ?? c.req.header('x-api-key') ?? c.req.header('x-auth-token')
  return shown && createHash('sha256').update(shown).digest('base64')
}

const tooMany = (waitMs: number): HttpError => ({
  kind: 'exhausted',
  message: 'Too many requests from this address; slow down',
  headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
})

/** A long-term rate, and how many requests may come at once. */
export interface RequestRate {
  readonly perSecond: number
  readonly burst: number
}

/** A token bucket without a timer: tokens that came back since the last use are added at the next use. */
export class TokenBucket {
  readonly #rate: RequestRate
  #tokens: number
  #at: number

  /** Starts full. Times are milliseconds on a monotonic clock. */
  constructor(rate: RequestRate, now: number) {
    this.#rate = rate
    this.#tokens = rate.burst
    this.#at = now
  }

  /** Takes one token and returns 0; without a token, returns the milliseconds until there is one. */
  take(now: number): number {
    this.#refill(now)
    if (this.#tokens >= 1) {
      this.#tokens--
      return 0
    }
    return Math.ceil(((1 - this.#tokens) / this.#rate.perSecond) * 1000)
  }

  /**
   * Takes tokens for an event that has happened, below zero if necessary; returns the milliseconds until zero is
   * reached.
   */
  spend(now: number, tokens: number): number {
    this.#refill(now)
    this.#tokens -= tokens
    return this.#tokens >= 0 ? 0 : Math.ceil((-this.#tokens / this.#rate.perSecond) * 1000)
  }

  #refill(now: number): void {
    const { perSecond, burst } = this.#rate
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, now - this.#at) / 1000) * perSecond)
    this.#at = now
  }
}

const MOST_BUCKETS = 20_000

/**
 * A bucket per caller, at most MOST_BUCKETS: beyond that, the bucket with the oldest use is dropped, as if it were
 * full.
 */
export class TokenBuckets {
  readonly #rate: RequestRate
  readonly #clock: Pick<Clock, 'monotonic'>
  /** In the order of their last use, the oldest first. */
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(rate: RequestRate, clock: Pick<Clock, 'monotonic'>) {
    this.#rate = rate
    this.#clock = clock
  }

  /** Takes a token of this caller and returns 0; without a token, returns the milliseconds until there is one. */
  take(caller: string): number {
    const now = this.#clock.monotonic()
    const bucket = this.#buckets.get(caller) ?? new TokenBucket(this.#rate, now)
    this.#buckets.delete(caller)
    this.#buckets.set(caller, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > MOST_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest)
    return bucket.take(now)
  }

  get size(): number {
    return this.#buckets.size
  }
}
