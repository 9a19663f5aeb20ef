import type { AttemptLease } from '../leases/lease.ts'

/** Gaps to a lease, before the list is closed up. What leaves by chance leaves some seven behind the oldest that stays. */
const MOST_GAPS = 16
/** Below this it is not worth closing up. */
const FEWEST_GAPS = 64

/**
 * The leases of a pool's tasks that wait on a worker, oldest first. Most leave from the middle: each knows its place,
 * and leaves a gap there, so that nothing but that place is touched. Places are counted from the first that ever was, so
 * that the gaps in front go without any lease being told a new place; only when gaps are all over is the list closed up.
 */
export class StagedList {
  #places: (AttemptLease | undefined)[] = []
  /** The number of the first of the places. */
  #base = 0
  #first = 0
  size = 0

  add(lease: AttemptLease): void {
    lease.stagedIn = this
    lease.stagedAt = this.#base + this.#places.push(lease) - 1
    this.size++
  }

  /** One that is in this list. */
  delete(lease: AttemptLease): void {
    const at = lease.stagedAt - this.#base
    this.#places[at] = undefined
    lease.stagedIn = undefined
    this.size--
    if (at === this.#first) this.#trim()
    if (this.#places.length > MOST_GAPS * this.size + FEWEST_GAPS) this.#closeUp()
  }

  /** So many of the oldest. */
  oldest(count: number): AttemptLease[] {
    const found: AttemptLease[] = []
    for (let at = this.#first; at < this.#places.length && found.length < count; at++) {
      const lease = this.#places[at]
      if (lease !== undefined) found.push(lease)
    }
    return found
  }

  /** Passes over the gaps in front, and lets them go when they are half of the list. */
  #trim(): void {
    const { length } = this.#places
    while (this.#first < length && this.#places[this.#first] === undefined) this.#first++
    if (this.#first < FEWEST_GAPS || 2 * this.#first < length) return
    this.#places = this.#places.slice(this.#first)
    this.#base += this.#first
    this.#first = 0
  }

  #closeUp(): void {
    this.#places = this.#places.filter((lease) => lease !== undefined)
    this.#base = 0
    this.#first = 0
    for (const [at, lease] of this.#places.entries()) if (lease !== undefined) lease.stagedAt = at
  }
}
