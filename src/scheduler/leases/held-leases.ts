import type { Task } from '../queue/task.ts'
import type { AttemptLease } from './lease.ts'

/**
 * The leases that a worker holds, linked one to the next: those that have a slot, in the order in which they got it, and
 * behind them those that are staged, oldest first. One that leaves is written out of its neighbours, and nothing has to
 * be looked through for it; and the staged one that begins is in its place already.
 */
export interface HeldLeases {
  firstHeld: AttemptLease | undefined
  lastHeld: AttemptLease | undefined
  /** The oldest that waits for a slot of the worker. */
  firstStaged: AttemptLease | undefined
  /** How many wait so. */
  staged: number
}

export function linkLease(held: HeldLeases, lease: AttemptLease): void {
  const next = lease.staged ? undefined : held.firstStaged
  const previous = next === undefined ? held.lastHeld : next.previousHeld
  lease.nextHeld = next
  lease.previousHeld = previous
  if (next === undefined) held.lastHeld = lease
  else next.previousHeld = lease
  if (previous === undefined) held.firstHeld = lease
  else previous.nextHeld = lease
  if (!lease.staged) return
  held.firstStaged ??= lease
  held.staged++
}

export function unlinkLease(held: HeldLeases, lease: AttemptLease): void {
  const { nextHeld: next, previousHeld: previous } = lease
  if (held.firstStaged === lease) held.firstStaged = next
  if (next === undefined) held.lastHeld = previous
  else next.previousHeld = previous
  if (previous === undefined) held.firstHeld = next
  else previous.nextHeld = next
  lease.nextHeld = undefined
  lease.previousHeld = undefined
  if (lease.staged) held.staged--
}

/** What was staged has a slot now. */
export function moveToSlot(held: HeldLeases, lease: AttemptLease): void {
  if (held.firstStaged === lease) {
    held.firstStaged = lease.nextHeld
    held.staged--
    lease.staged = false
    return
  }
  unlinkLease(held, lease)
  lease.staged = false
  linkLease(held, lease)
}

/** In a list of their own: what is done about one may end its lease. */
export function heldTasks({ firstHeld }: HeldLeases): Task[] {
  const tasks: Task[] = []
  for (let lease = firstHeld; lease !== undefined; lease = lease.nextHeld)
    if (lease.task !== undefined) tasks.push(lease.task)
  return tasks
}
