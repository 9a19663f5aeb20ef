import type { Timing } from '../../src/grpc/http2/timing.ts'

/**
 * A clock that jumps, as for a process that was not scheduled for a while: each callback that is due is called once,
 * late, even if its interval passed several times.
 */
export class JumpingTiming implements Timing {
  #now = 1000
  #waiting: { at: number; callback: () => void }[] = []

  readonly now = (): number => this.#now

  readonly after = (ms: number, callback: () => void): (() => void) => {
    const entry = { at: this.#now + ms, callback }
    this.#waiting.push(entry)
    return () => {
      const place = this.#waiting.indexOf(entry)
      if (place >= 0) this.#waiting.splice(place, 1)
    }
  }

  advance(ms: number): void {
    this.#now += ms
    const due = this.#waiting.filter(({ at }) => at <= this.#now)
    this.#waiting = this.#waiting.filter(({ at }) => at > this.#now)
    for (const { callback } of due.toSorted((one, other) => one.at - other.at)) callback()
  }
}
