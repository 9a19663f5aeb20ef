import type { Task } from './task.ts'

/** Below this it is not worth closing up. */
const FEWEST_GAPS = 32

/**
 * The tasks of a pool that wait on a worker, oldest first. Most leave from the middle: each knows its place, and leaves
 * a gap there, so that nothing but that place is touched; when there are more gaps than tasks the list is closed up.
 */
export class StagedList {
  readonly #places: (Task | undefined)[] = []
  #first = 0
  size = 0

  add(task: Task): void {
    if (task.lease === undefined) return
    task.lease.stagedAt = this.#places.push(task) - 1
    this.size++
  }

  /** Nothing happens when it is not in the list. */
  delete(task: Task): void {
    const { lease } = task
    if (lease === undefined || lease.stagedAt < 0 || this.#places[lease.stagedAt] !== task) return
    this.#places[lease.stagedAt] = undefined
    lease.stagedAt = -1
    this.size--
    if (this.#places.length > 2 * this.size + FEWEST_GAPS) this.#closeUp()
  }

  /** So many of the oldest. */
  oldest(count: number): Task[] {
    const found: Task[] = []
    const places = this.#places
    while (this.#first < places.length && places[this.#first] === undefined) this.#first++
    for (let at = this.#first; at < places.length && found.length < count; at++) {
      const task = places[at]
      if (task !== undefined) found.push(task)
    }
    return found
  }

  #closeUp(): void {
    const places = this.#places
    let to = 0
    for (const task of places) {
      if (task?.lease === undefined) continue
      task.lease.stagedAt = to
      places[to++] = task
    }
    places.length = to
    this.#first = 0
  }
}
