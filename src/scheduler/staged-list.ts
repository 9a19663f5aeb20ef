import type { Task } from './task.ts'

/** Gaps to a task, before the list is closed up. What leaves by chance leaves some seven behind the oldest that stays. */
const MOST_GAPS = 16
/** Below this it is not worth closing up. */
const FEWEST_GAPS = 64

/**
 * The tasks of a pool that wait on a worker, oldest first. Most leave from the middle: each knows its place, and leaves
 * a gap there, so that nothing but that place is touched. Places are counted from the first that ever was, so that the
 * gaps in front go without any task being told a new place; only when gaps are all over is the list closed up.
 */
export class StagedList {
  #places: (Task | undefined)[] = []
  /** The number of the first of the places. */
  #base = 0
  #first = 0
  size = 0

  add(task: Task): void {
    if (task.lease === undefined) return
    task.lease.stagedAt = this.#base + this.#places.push(task) - 1
    this.size++
  }

  /** Nothing happens when it is not in the list. */
  delete(task: Task): void {
    const { lease } = task
    if (lease === undefined) return
    const at = lease.stagedAt - this.#base
    if (lease.stagedAt < 0 || this.#places[at] !== task) return
    this.#places[at] = undefined
    lease.stagedAt = -1
    this.size--
    if (at === this.#first) this.#trim()
    if (this.#places.length > MOST_GAPS * this.size + FEWEST_GAPS) this.#closeUp()
  }

  /** So many of the oldest. */
  oldest(count: number): Task[] {
    const found: Task[] = []
    for (let at = this.#first; at < this.#places.length && found.length < count; at++) {
      const task = this.#places[at]
      if (task !== undefined) found.push(task)
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
    this.#places = this.#places.filter((task) => task !== undefined)
    this.#base = 0
    this.#first = 0
    for (const [at, task] of this.#places.entries()) if (task?.lease !== undefined) task.lease.stagedAt = at
  }
}
