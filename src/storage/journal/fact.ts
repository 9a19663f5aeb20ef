import type { FinalState } from '../../model/task-state.ts'

/**
 * How sure a fact is when `record` resolves. `process`: it outlives this process, killed or not. `power`: it is on the
 * disk, and outlives the machine going dark.
 */
export type Durability = 'process' | 'power'

/** The number of a lease: the epoch of the server that gave it, and a counter within it. Later ones are greater. */
export interface RecordedFencing {
  readonly epoch: number
  readonly counter: number
}

/** What is recorded: mostly of tasks. */
export type Fact = TaskFact | Offered

/**
 * What happened to a task, in the order in which it happened. Times are milliseconds since 1970. A fact about a task
 * that is not open (never accepted, final, or forgotten) changes nothing; only a late `finished` leaves a trace, as
 * superseded.
 */
export type TaskFact = Accepted | Joined | Left | Raised | Leased | Started | Requeued | CancelAsked | Finished

/** From here on we owe an answer. Names that grow with time (UUID version 7 and its kin) cost a fraction of random ones. */
export interface Accepted {
  readonly kind: 'accepted'
  readonly task: string
  /** The name of its first operation: what the client asks after. No two operations have the same, ever. */
  readonly operation: string
  /** What the operation's door must remember of it, such as where to call back. */
  readonly note?: Uint8Array | undefined
  readonly instance: string
  readonly invocation: string
  /** Lower is sooner. */
  readonly priority: number
  /** What kind of thing it is, in the words of the door that it came by. */
  readonly origin: string
  /** What to run, in bytes that only the engine reads. */
  readonly spec: Uint8Array
  /** Under which name it may be merged and cached, if it may be. */
  readonly actionKey?: string | undefined
  /** The word that its client was given; later facts of the task are recorded in the same one. */
  readonly durability: Durability
  readonly at: number
}

/** Another operation waits for the same task, under a name of its own. */
export interface Joined {
  readonly kind: 'joined'
  readonly task: string
  readonly operation: string
  readonly note?: Uint8Array | undefined
  readonly at: number
}

/** An operation waits no more. It can still be found by its name. */
export interface Left {
  readonly kind: 'left'
  readonly task: string
  readonly operation: string
  readonly at: number
}

export interface Raised {
  readonly kind: 'raised'
  readonly task: string
  readonly priority: number
}

/** A worker has it now. Without effect when a lease with this fencing number or a greater one is on record. */
export interface Leased {
  readonly kind: 'leased'
  readonly task: string
  readonly worker: string
  readonly fencing: RecordedFencing
  /** 1 for the first. */
  readonly attempt: number
  readonly at: number
}

/** The worker said so. Without effect under another fencing number than that of the lease. */
export interface Started {
  readonly kind: 'started'
  readonly task: string
  readonly fencing: RecordedFencing
  readonly at: number
}

/** The attempt is over without an answer: the lease is gone, and what it reports from here on is superseded. */
export interface Requeued {
  readonly kind: 'requeued'
  readonly task: string
  readonly state: 'queued' | 'retrying'
  /** How many attempts were begun so far. */
  readonly attempt: number
  /** All workers that were lost with this task, this time included. */
  readonly lostWorkers: readonly string[]
  /** How many grid faults it has survived; none when not said. */
  readonly faults?: number | undefined
  /** When it is to be queued again, for `retrying`. */
  readonly due?: number | undefined
  readonly reason: string
  readonly at: number
}

/** Somebody wants it stopped; it is not yet. */
export interface CancelAsked {
  readonly kind: 'cancel-asked'
  readonly task: string
  readonly reason: string
  readonly at: number
}

/**
 * The end. Applied only to a task that is open, and, where a fencing number is given, only under the lease that has
 * it; what comes late is kept beside the task as superseded. Without a number the grid itself decided.
 */
export interface Finished {
  readonly kind: 'finished'
  readonly task: string
  readonly state: FinalState
  readonly fencing?: RecordedFencing | undefined
  /** What came of it, in bytes that only the engine reads. */
  readonly result?: Uint8Array | undefined
  readonly reason: string
  readonly at: number
}

/** Workers offer properties under these names; from now on they are known, whether a worker is there or not. */
export interface Offered {
  readonly kind: 'offered'
  readonly names: readonly string[]
}
