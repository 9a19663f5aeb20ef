import type { Fencing } from '../../model/fencing.ts'
import type { InstanceName } from '../../model/instance-name.ts'

/** Milliseconds on the monotonic clock. */
export type Instant = number

/** A requirement of a task, or an offer of a worker. */
export interface Property {
  readonly name: string
  readonly value: string
}

/** Amounts that a task reserves while it runs. An absent amount is not demanded, or not limited. */
export interface ResourceAmounts {
  readonly cpu?: number
  readonly memoryBytes?: number
  readonly diskBytes?: number
}

/** The part of a task that the scheduler needs: enough to place it, and nothing about its command. */
export interface QueuedRequest {
  readonly task: string
  readonly instance: InstanceName
  /** The client's invocation, for fair shares within the instance. The empty name is a valid name. */
  readonly invocation: string
  /** The lowest value is served first, within the instance only. Clamped to −100…100. */
  readonly priority: number
  /**
   * Everything that must match exactly: platform properties, runtime, language, labels, group. A worker fits when it
   * offers all of them. Abilities that only some kinds of worker have (snippets, inputs by URI) are properties, too.
   */
  readonly properties: readonly Property[]
  readonly demands: ResourceAmounts
  /** The task may be merged with an identical one of its instance; without a key it is never merged. */
  readonly actionKey?: string
  /** Inputs that a worker may have cached, the most significant first (input root, toolchain); the first four count. */
  readonly affinity?: readonly string[]
  /** The command's time-out. The worker enforces it, and the scheduler does if the worker does not. */
  readonly timeoutMs?: number
  /** The caller's estimate of the duration; without it the scheduler uses the learned one. */
  readonly estimateMs?: number
  /** Must not run on a preemptible worker. */
  readonly refusesPreemptible?: boolean
  /** A user is connected to the run: it is never retried. */
  readonly interactive?: boolean
  /** The number of grid faults after which the task is still retried; overrides the option. */
  readonly maxRetries?: number
}

/** One attempt at a task, identified by its lease. */
export interface AttemptRef {
  readonly task: string
  readonly fencing: Fencing
}

/** An operation, stream or workflow that waits for the task. When the last waiter leaves, the task is cancelled. */
export type Waiter = string

export interface Submit extends QueuedRequest {
  readonly kind: 'submit'
  readonly waiter: Waiter
}

/** An unfinished task of the journal, after a restart. It is accepted without an admission check. */
export interface Restore extends QueuedRequest {
  readonly kind: 'restore'
  readonly waiters: readonly Waiter[]
  /** The time since it was accepted: it keeps its place in the queue. */
  readonly ageMs: number
  /** Grid faults so far. */
  readonly faults: number
  readonly lostWorkers: readonly string[]
  /** The lease that had not ended when the server stopped: its worker has `reconnectGraceMs` to register again. */
  readonly lease?: { readonly worker: string; readonly fencing: Fencing; readonly started: boolean }
  /** A client requested its cancellation. Without a lease it is cancelled at once. */
  readonly stopping?: boolean
  /** The rest of the delay until its next retry. */
  readonly retryInMs?: number
}

export interface Register {
  readonly kind: 'register'
  readonly worker: string
  readonly slots: number
  /** The number of further tasks that it stages ahead of a free slot. */
  readonly prefetch?: number
  /** Its offers; one name may have several values, and the value `*` matches every value. */
  readonly properties: readonly Property[]
  readonly resources: ResourceAmounts
  /** The machine may be preempted at short notice (spot instance). */
  readonly preemptible?: boolean
  /** Gets tasks only in answer to `ask`; other workers are sent tasks as slots become free. */
  readonly pulls?: boolean
  /** The attempts that it still runs. Leases of a known worker that are not listed end. */
  readonly running?: readonly AttemptRef[]
  /** The worker is not admitted before its first heartbeat, because it runs a self-test. */
  readonly notReady?: boolean
}

export interface Heartbeat {
  readonly kind: 'heartbeat'
  readonly worker: string
  /** All attempts of the worker, staged ones included: these are renewed, others end. Without it all are renewed. */
  readonly holds?: readonly AttemptRef[]
  /** From 0 (idle) to 1 (full), as the worker measures its machine. */
  readonly load?: number
  /** The worker finishes its tasks and then leaves. */
  readonly draining?: boolean
}

/** How an attempt ended. Only a fault is a failure of the grid: a command that exits with 1 has a result. */
export type AttemptEnd =
  | { readonly kind: 'result'; readonly succeeded: boolean }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'fault'; readonly what: string; readonly final?: boolean }

export interface FinishedReport extends AttemptRef {
  readonly kind: 'finished'
  readonly worker: string
  readonly outcome: AttemptEnd
}

/** The worker returns a task unstarted, or the task was not delivered: it is queued again without a fault. */
export interface ReturnedReport extends AttemptRef {
  readonly kind: 'returned'
  readonly worker: string
  readonly what: string
  /** The lease did not reach the worker: this counts against the health of the worker. */
  readonly undelivered?: boolean
  /** The worker had no slot (or staging place) for it: the server's count was wrong. Not an attempt. */
  readonly noSlot?: boolean
}

/**
 * All events. Only a tick lets deadlines pass: no lease, grace time or wait ends in another event. So after a stall,
 * the engine can apply the events that were waiting before it sends the tick.
 */
export type GridEvent =
  | { readonly kind: 'tick' }
  | Submit
  | Restore
  /** Adds a waiter to an unfinished task. */
  | { readonly kind: 'join'; readonly task: string; readonly waiter: Waiter }
  /** Removes a waiter; a task without waiters is cancelled. */
  | { readonly kind: 'leave'; readonly task: string; readonly waiter: Waiter }
  /** Ends the task, even if it has waiters. */
  | { readonly kind: 'cancel'; readonly task: string; readonly what?: string }
  | Register
  | Heartbeat
  /**
   * A pulling worker requests up to `tasks` tasks; 0 withdraws the request. The first leases to it answer the request.
   */
  | { readonly kind: 'ask'; readonly worker: string; readonly tasks: number }
  | ({ readonly kind: 'started'; readonly worker: string } & AttemptRef)
  | FinishedReport
  | ReturnedReport
  /** The connection was lost: the worker has `disconnectGraceMs` to reconnect. */
  | { readonly kind: 'disconnected'; readonly worker: string }
  /** The worker leaves: its tasks are queued again. */
  | { readonly kind: 'unregister'; readonly worker: string }
  /** The machine is being preempted (spot instance): its tasks are queued again, without a fault. */
  | { readonly kind: 'preempted'; readonly worker: string }
  /** The worker gets no new tasks; with `shutdown` it is ordered to shut down once it has none. */
  | { readonly kind: 'drain'; readonly worker: string; readonly shutdown?: boolean }
  /** Ends a drain. */
  | { readonly kind: 'resume'; readonly worker: string }
