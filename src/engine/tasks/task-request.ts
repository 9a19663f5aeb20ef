import type { Digest } from '../../base/digest.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { Property, ResourceAmounts } from '../../scheduler/model/events.ts'
import type { Durability } from '../../storage/journal/fact.ts'

/**
 * The request of a service to run a task. `spec` describes the command in bytes that only services and workers decode.
 * The other fields are those that the grid needs to schedule, store and account for the task. `submit` copies the
 * bytes, so the caller may reuse their buffer when it returns.
 */
export interface TaskRequest {
  readonly instance: InstanceName
  /** The client's build or workflow run, for fair shares. */
  readonly invocation?: string
  /** A lower number is scheduled first. */
  readonly priority?: number
  /** The kind of task: `action`, `snippet` or `step`. */
  readonly origin: string
  readonly spec: Uint8Array
  /** Properties that a worker must offer, with exactly these values. */
  readonly properties?: readonly Property[]
  readonly demands?: ResourceAmounts
  /** Keys of inputs: a worker that had a task with one of them is preferred. */
  readonly affinity?: readonly string[]
  readonly timeoutMs?: number
  readonly estimateMs?: number
  readonly refusesPreemptible?: boolean
  /** A user types input for the task: it is never retried. */
  readonly interactive?: boolean
  readonly maxRetries?: number
  /** Tasks of one instance with the same key are identical. */
  readonly actionKey?: string
  /**
   * With an action key: the result may be read from and written to the action cache, and identical tasks are merged.
   */
  readonly cacheable?: boolean
  /** The result of a lookup in the action cache that the caller has made. Without it the engine makes the lookup. */
  readonly cached?: { readonly result: Uint8Array | undefined }
  /** Run the task even if the action cache has its result. It may still be merged. */
  readonly skipsCache?: boolean
  /** Default `process`. */
  readonly durability?: Durability
  /**
   * The task has no side effects, so it may start before its acceptance is durable. Callers are notified only after
   * that.
   */
  readonly mayStartEarly?: boolean
  /**
   * The submitter reports nothing about the task before its end, or before `secure` has resolved. So the acceptance
   * need not survive a power cut: the end is written with the requested durability, and everything recorded before it
   * is then durable too.
   */
  readonly deferAck?: boolean
  /** Accepted even after `refuseTasks`: the task is a step of a workflow run that was accepted before. */
  readonly whileDraining?: boolean
  /** Blobs that must not be evicted while the task is open. */
  readonly roots?: readonly Digest[]

  /** The name of the operation, if the caller has to choose it. Names are never reused. */
  readonly operation?: string
  /** Bytes that the service stores with the operation, for example a callback URL. */
  readonly note?: Uint8Array
  /** Texts by which lists find the task. */
  readonly labels?: readonly string[]
  /**
   * The operation is released when no client has watched it for the grace time. Otherwise it stays until it is
   * cancelled.
   */
  readonly needsWaiter?: boolean
}

/** The fields that the journal stores in the envelope of the spec. */
export type TaskOptions = Pick<
  TaskRequest,
  | 'properties'
  | 'demands'
  | 'affinity'
  | 'timeoutMs'
  | 'estimateMs'
  | 'refusesPreemptible'
  | 'interactive'
  | 'maxRetries'
  | 'cacheable'
  | 'roots'
>
