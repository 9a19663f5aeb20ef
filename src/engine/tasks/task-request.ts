import type { Digest } from '../../base/digest.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { Property, ResourceAmounts } from '../../scheduler/model/events.ts'
import type { Durability } from '../../storage/journal/fact.ts'

/**
 * What a door asks for. What is to be run is in `spec`, in bytes that only doors and workers read; the rest is what the
 * grid must know to place it, keep it and share it. Bytes are copied: they may be reused as soon as `submit` returns.
 */
export interface TaskRequest {
  readonly instance: InstanceName
  /** The client's build or submission, for fair shares. */
  readonly invocation?: string
  /** Lower goes sooner. */
  readonly priority?: number
  /** What kind of thing it is, in the door's word: `action`, `snippet`, `step`. */
  readonly origin: string
  readonly spec: Uint8Array
  /** Everything that a worker must offer exactly. */
  readonly properties?: readonly Property[]
  readonly demands?: ResourceAmounts
  /** What a worker is better off for having had before. */
  readonly affinity?: readonly string[]
  readonly timeoutMs?: number
  readonly estimateMs?: number
  readonly refusesPreemptible?: boolean
  /** Somebody sits in front of it: never tried again. */
  readonly interactive?: boolean
  readonly maxRetries?: number
  /** What makes it the same as another of its instance. */
  readonly actionKey?: string
  /** With an action key: its result may come from the cache and go there, and it may be merged with one under way. */
  readonly cacheable?: boolean
  /** The caller has asked the cache: its answer. The engine asks when this is left out. */
  readonly cached?: { readonly result: Uint8Array | undefined }
  /** Run it though the cache has it. It may still be merged. */
  readonly skipsCache?: boolean
  /** `process` unless said. */
  readonly durability?: Durability
  /** Free of side effects: it may start while its row commits. Its acknowledgement and its result leave only after. */
  readonly mayStartEarly?: boolean
  /**
   * The submitter reports nothing about the task before its end, or before `secure` has resolved. So the acceptance
   * need not survive a power cut: the end is written with the requested durability, and everything recorded before it
   * is then durable too.
   */
  readonly isToldLate?: boolean
  /** Blobs that must not go while it is open. */
  readonly roots?: readonly Digest[]

  /** The name that the client asks after, when the door must choose it: no two are the same, ever. */
  readonly operation?: string
  /** What the door must remember of this operation, such as where to call back. */
  readonly note?: Uint8Array
  /** It gives up its reference when nobody has watched it for a while. Without this it holds on until it is cancelled. */
  readonly needsWaiter?: boolean
}

/** What the journal keeps of a task beside its own columns. */
export type TaskOrder = Pick<
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
