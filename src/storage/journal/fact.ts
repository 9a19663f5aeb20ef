import type { FinalState } from '../../model/task-state.ts'

/**
 * The durability of a fact when `record` resolves. `process`: it survives a crash of this process. `power`: it is on
 * disk and survives a power cut.
 */
export type Durability = 'process' | 'power'

/**
 * The fencing number of a lease: the epoch of the server that granted it, and a counter within the epoch. Later leases
 * have greater numbers.
 */
export interface RecordedFencing {
  readonly epoch: number
  readonly counter: number
}

/** A recorded event. Most are about tasks. */
export type Fact = TaskFact | Offered

/**
 * The events of a task, in order. Times are milliseconds since 1970. A fact about a task that is not open (never
 * accepted, final, or forgotten) has no effect; only a late `finished` is stored, as superseded.
 */
export type TaskFact = Accepted | Joined | Left | Raised | Leased | Started | Requeued | CancelAsked | Finished

/**
 * The server has accepted the task and must answer its client. Task IDs that increase with time (such as UUID version
 * 7) cost a fraction of random ones.
 */
export interface Accepted {
  readonly kind: 'accepted'
  readonly task: string
  /** The name of its first operation, by which the client refers to it. Operation names are unique for all time. */
  readonly operation: string
  /** Data that the operation's API stores with it, such as a callback URL. */
  readonly note?: Uint8Array | undefined
  /** Labels by which lists find the task, such as the language of a snippet. */
  readonly labels?: readonly string[] | undefined
  readonly instance: string
  readonly invocation: string
  /** Lower values run first. */
  readonly priority: number
  /** The origin of the task: a name that its API chooses. */
  readonly origin: string
  /** The task to run, in bytes that only the engine reads. */
  readonly spec: Uint8Array
  /** The key for merging and caching; undefined when the task must not be merged or cached. */
  readonly actionKey?: string | undefined
  /** The durability that the client was promised; later facts of the task are recorded with it too. */
  readonly durability: Durability
  readonly at: number
}

/** Another operation waits for the same task, under a name of its own. */
export interface Joined {
  readonly kind: 'joined'
  readonly task: string
  readonly operation: string
  readonly note?: Uint8Array | undefined
  /** Labels by which lists find the task, in addition to those of `accepted`. */
  readonly labels?: readonly string[] | undefined
  readonly at: number
}

/** An operation no longer waits for the task. It can still be found by its name. */
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

/** The task was leased to a worker. Ignored when a lease with this or a greater fencing number is recorded. */
export interface Leased {
  readonly kind: 'leased'
  readonly task: string
  readonly worker: string
  readonly fencing: RecordedFencing
  /** The number of the attempt; the first is 1. */
  readonly attempt: number
  readonly at: number
}

/** The worker reported that it started the task. Ignored when the fencing number is not that of the lease. */
export interface Started {
  readonly kind: 'started'
  readonly task: string
  readonly fencing: RecordedFencing
  readonly at: number
}

/** The attempt ended without a result. The lease is revoked, and its later results are superseded. */
export interface Requeued {
  readonly kind: 'requeued'
  readonly task: string
  readonly state: 'queued' | 'retrying'
  /** The number of attempts so far. */
  readonly attempt: number
  /** All workers that were lost while they ran this task, including this one. */
  readonly lostWorkers: readonly string[]
  /** The number of grid faults that the task has survived; default 0. */
  readonly faults?: number | undefined
  /** For `retrying`: when the task is queued again. */
  readonly due?: number | undefined
  readonly reason: string
  readonly at: number
}

/** The task must be stopped; its worker has not confirmed that yet. */
export interface CancelAsked {
  readonly kind: 'cancel-asked'
  readonly task: string
  readonly reason: string
  readonly at: number
}

/**
 * The task ended. Applied only to an open task and, with a fencing number, only under the lease with that number. A
 * late end is stored as superseded. Without a fencing number, the server itself ended the task.
 */
export interface Finished {
  readonly kind: 'finished'
  readonly task: string
  readonly state: FinalState
  readonly fencing?: RecordedFencing | undefined
  /** The result, in bytes that only the engine reads. */
  readonly result?: Uint8Array | undefined
  /** Labels by which lists find the task, in addition to those of its operations. */
  readonly labels?: readonly string[] | undefined
  readonly reason: string
  readonly at: number
}

/** Workers offer properties with these names. The names stay known when no worker is connected. */
export interface Offered {
  readonly kind: 'offered'
  readonly names: readonly string[]
}
