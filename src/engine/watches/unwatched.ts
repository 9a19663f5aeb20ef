import type { Operation } from '../tasks/live-task.ts'

/**
 * Operations that need a watcher and have none, the oldest first. Most stay here for less than a millisecond, so the
 * list is linked through the operations themselves. An operation that leaves the list clears its links, for the reason
 * that name-table.ts gives.
 */
export class Unwatched {
  oldest: Operation | undefined
  #newest: Operation | undefined

  add(operation: Operation, at: number): void {
    operation.unwatchedAt = at
    operation.unwatchedBefore = this.#newest
    if (this.#newest === undefined) this.oldest = operation
    else this.#newest.unwatchedAfter = operation
    this.#newest = operation
  }

  /** Nothing happens when it is not among them. */
  delete(operation: Operation): void {
    if (operation.unwatchedAt === undefined) return
    const { unwatchedBefore: before, unwatchedAfter: after } = operation
    if (before === undefined) this.oldest = after
    else before.unwatchedAfter = after
    if (after === undefined) this.#newest = before
    else after.unwatchedBefore = before
    operation.unwatchedAt = undefined
    operation.unwatchedBefore = undefined
    operation.unwatchedAfter = undefined
  }
}
