/** A lease in the list of its worker. The list needs only these fields of a lease. */
export interface HeldLease {
  /** The lease's number in the table of leases. */
  readonly number: number
  /** Staged ahead of a free slot. */
  staged: boolean
  nextHeld: HeldLease | undefined
  previousHeld: HeldLease | undefined
}

/**
 * The leases that a worker holds, as a linked list: first the leases that have a slot, in the order in which they got it,
 * then the staged leases, oldest first. Removing a lease changes only its neighbours, and a staged lease that gets a slot
 * is already in the right place.
 */
export interface HeldLeases {
  firstHeld: HeldLease | undefined
  lastHeld: HeldLease | undefined
  /** The oldest staged lease. */
  firstStaged: HeldLease | undefined
  /** The number of staged leases. */
  staged: number
}

export function linkLease(held: HeldLeases, lease: HeldLease): void {
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

export function unlinkLease(held: HeldLeases, lease: HeldLease): void {
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

/** The staged lease gets a slot. */
export function moveToSlot(held: HeldLeases, lease: HeldLease): void {
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
