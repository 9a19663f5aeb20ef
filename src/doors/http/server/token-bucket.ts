/** So many a second in the long run, and so many at once. */
export interface RequestRate {
  readonly perSecond: number
  readonly burst: number
}

/** Counts what somebody may still do, without a timer: what has come back since is added up when it is asked. */
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
