import type { EventRate, Http2Limits } from './limits.ts'
import { ConnectionFault, ERROR } from './wire-format.ts'

/**
 * A token bucket that reads the clock only when it is empty, so that normal traffic does not pay for it. Exceeding it
 * closes the connection with ENHANCE_YOUR_CALM.
 */
export class FloodGate {
  readonly #name: string
  readonly #rate: EventRate
  readonly #now: () => number
  #tokens: number
  #filledAt: number

  constructor(name: string, rate: EventRate, now: () => number) {
    this.#name = name
    this.#rate = rate
    this.#now = now
    this.#tokens = rate.burst
    this.#filledAt = now()
  }

  pass(): void {
    if (this.#tokens < 1) this.#refill()
    this.#tokens--
  }

  #refill(): void {
    const now = this.#now()
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + ((now - this.#filledAt) / 1000) * this.#rate.perSecond)
    this.#filledAt = now
    if (this.#tokens < 1) {
      throw new ConnectionFault(ERROR.enhanceYourCalm, `too many ${this.#name} frames`, this.#name)
    }
  }
}

export type FloodGates = Readonly<Record<'resets' | 'pings' | 'settings' | 'emptyFrames' | 'priorities', FloodGate>>

export const floodGates = (limits: Http2Limits, now: () => number): FloodGates => ({
  resets: new FloodGate('resets', limits.resets, now),
  pings: new FloodGate('pings', limits.pings, now),
  settings: new FloodGate('settings', limits.settings, now),
  emptyFrames: new FloodGate('empty frames', limits.emptyFrames, now),
  priorities: new FloodGate('priorities', limits.priorities, now),
})
