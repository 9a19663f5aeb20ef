import type { Clock } from '../../../base/clock.ts'
import { type RequestRate, TokenBucket } from './token-bucket.ts'

/** More are not kept apart: then those that were used longest ago are forgotten, which is as if they were full. */
const MOST_BUCKETS = 20_000

/** A bucket for everybody who comes, in bounded memory: whoever was quiet for long is forgotten. */
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
