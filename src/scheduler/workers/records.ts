import type { WorkerState } from '../../model/worker-state.ts'
import type { Instant } from '../model/events.ts'
import type { Amounts } from '../model/requirements.ts'
import type { Gauges } from './gauges.ts'

/** A registered worker. */
export interface Worker extends HeldLeases, UnconfirmedEnds {
  readonly id: string
  readonly class: WorkerClass
  readonly slots: number
  readonly prefetch: number
  readonly pulls: boolean
  /** The number of tasks that a pulling worker has requested. */
  asked: number
  readonly total: Amounts
  /** The amounts that no lease has reserved. */
  readonly free: Gauges
  /** Slots in use. */
  used: number
  /** The worker rejected a task for lack of a slot (or of staging space), and has not ended an attempt since. */
  refusesTasks: boolean
  refusesStaging: boolean
  state: WorkerState
  /** The same object as `free`. */
  readonly health: Gauges
  lastMessageAt: Instant
  /** When its connection was lost; undefined while it is connected. */
  disconnectedAt: Instant | undefined
  shutdownWhenEmpty: boolean
  /** Reserved for the next task of one pool; it accepts no other task. */
  kept: boolean
  /** Whether it is listed in `freed`. */
  freed: boolean
  /** The number of the last lease that it got, for the round-robin strategy. */
  turn: number
  /** When its timer is due. */
  lookAt: Instant
  /** The list of open workers that contains it. */
  openIn: OpenWorkers | undefined
  /** Its positions in the lists of its class; −1 when it is not in the list. */
  classAt: number
  openAt: number
  stagerAt: number
}

/**
 * Workers that offer the same properties, and the same amounts to within a power of two. All of them can serve the same
 * tasks. Ten thousand workers typically form a handful of classes.
 */
export interface WorkerClass {
  readonly number: number
  readonly key: string
  readonly offers: ReadonlyMap<string, ReadonlySet<string>>
  readonly preemptible: boolean
  /** The minimum that each of its workers has. */
  readonly floor: Amounts
  readonly workers: Worker[]
  /** The number of workers that accept tasks now or when a slot becomes free. */
  live: number
  /** Workers with a free slot, by the bucket of their free amounts. */
  readonly openBySpace: Map<number, OpenWorkers>
  /** Full workers that can stage a task ahead. */
  readonly stagers: Worker[]
  /** The distinct total amounts of its workers, with the number of workers that have them. */
  readonly shapes: Map<string, { readonly total: Amounts; count: number }>
  /** The usage of the instance that it served last. An instance that was idle starts with this usage. */
  clock: number
}

/** Open workers with the same free amounts, to within a power of two. */
export interface OpenWorkers {
  /** The minimum that each of them has free. */
  readonly floor: Amounts
  readonly workers: Worker[]
}

/** An attempt without a lease that may still run on its worker. */
export interface Unconfirmed {
  readonly staged: boolean
  /** The scheduler assumes that the attempt has ended if the worker does not report or list it until this time. */
  until: Instant
}

/**
 * Attempts whose lease the server ended and whose end the worker has not confirmed; see `leases/unconfirmed-ends.ts`.
 */
export interface UnconfirmedEnds {
  readonly unconfirmed: Map<string, Unconfirmed>
  /** How many of them use a slot, and how many a staging place. */
  unconfirmedSlots: number
  unconfirmedStaged: number
}

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
 * The leases that a worker holds, as a linked list: first the leases that have a slot, in the order in which they got
 * it, then the staged leases, oldest first. Removing a lease changes only its neighbours, and a staged lease that gets
 * a slot is already in the right place.
 */
export interface HeldLeases {
  firstHeld: HeldLease | undefined
  lastHeld: HeldLease | undefined
  /** The oldest staged lease. */
  firstStaged: HeldLease | undefined
  /** The number of staged leases. */
  staged: number
}
