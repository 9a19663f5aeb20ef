import type { Clock } from '../../../base/clock.ts'

/** So many a second in the long run, and so many at once. */
export interface RequestRate {
  readonly perSecond: number
  readonly burst: number
}

/** A token bucket without a timer: tokens that came back since the last use are added at the next use. */
export class TokenBucket {
  readonly #rate: RequestRate
  #tokens: number
  #at: number

  /** Full. Times are milliseconds on a clock that never jumps. */
  constructor(rate: RequestRate, now: number) {
    this.#rate = rate
    this.#tokens = rate.burst
    this.#at = now
  }

  /** Takes one: 0 if there is one, else the milliseconds until there will be. */
  take(now: number): number {
    this.#refill(now)
    if (this.#tokens >= 1) {
      this.#tokens--
      return 0
    }
    return Math.ceil(((1 - this.#tokens) / this.#rate.perSecond) * 1000)
  }

  /** For what has happened already: takes so many, more than there are if need be; the milliseconds until that is made good. */
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

/** More are not kept apart: then those that were used longest ago are forgotten, which is as if they were full. */
const MOST_BUCKETS = 20_000

/** A bucket per caller, in bounded memory: the callers that were quiet longest are forgotten. */
export class TokenBuckets {
  readonly #rate: RequestRate
  readonly #clock: Pick<Clock, 'monotonic'>
  /** The one that was used longest ago is first. */
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(rate: RequestRate, clock: Pick<Clock, 'monotonic'>) {
    this.#rate = rate
    this.#clock = clock
  }

  /** Takes one of theirs: 0 if there is one, else the milliseconds until there will be. */
  take(whose: string): number {
    const now = this.#clock.monotonic()
    const bucket = this.#buckets.get(whose) ?? new TokenBucket(this.#rate, now)
    this.#buckets.delete(whose)
    this.#buckets.set(whose, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > MOST_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest)
    return bucket.take(now)
  }

  get size(): number {
    return this.#buckets.size
  }
}
