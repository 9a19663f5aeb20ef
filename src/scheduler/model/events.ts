import type { Fencing } from '../../model/fencing.ts'
import type { InstanceName } from '../../model/instance-name.ts'

/** Milliseconds on the monotonic clock. */
export type Instant = number

/** What a task needs or a worker offers, by name. */
export interface Property {
  readonly name: string
  readonly value: string
}

/** What is used up while a task runs. What is left out is not asked for, or not limited. */
export interface ResourceAmounts {
  readonly cpu?: number
  readonly memoryBytes?: number
  readonly diskBytes?: number
}

/** What the scheduler knows of a task: enough to place it, and nothing of what it does. */
export interface TaskRequest {
  readonly task: string
  readonly instance: InstanceName
  /** Who asked, for shares within the instance; empty is a name like any other. */
  readonly invocation: string
  /** Lower goes sooner; within its instance only. Held to −100…100. */
  readonly priority: number
  /**
   * Everything that must match exactly: platform properties, runtime, language, labels, group. A worker fits when it
   * offers every one of them. What only some kinds of worker can do (snippets, inputs by URI) is a property too.
   */
  readonly properties: readonly Property[]
  readonly demands: ResourceAmounts
  /** Of a task that may be merged with an identical one of its instance; without it, it never is. */
  readonly actionKey?: string
  /** What a worker is better off for having had before, most telling first (input root, toolchain); four count. */
  readonly affinity?: readonly string[]
  /** Of the command itself; the worker holds it to that, and we do when the worker does not. */
  readonly timeoutMs?: number
  /** How long it will take, when the caller knows better than our memory of its kind. */
  readonly estimateMs?: number
  /** Must not run on a worker that may be taken away. */
  readonly refusesPreemptible?: boolean
  /** Somebody sits in front of it: never tried again. */
  readonly interactive?: boolean
  /** Grid faults that it survives, when that is not what the options say. */
  readonly maxRetries?: number
}

/** One attempt at a task, by the lease that allows it. */
export interface Attempt {
  readonly task: string
  readonly fencing: Fencing
}

/** An operation, stream, submission: whatever would miss the task. The last one to leave takes the task with it. */
export type Waiter = string

export interface Submit extends TaskRequest {
  readonly kind: 'submit'
  readonly waiter: Waiter
}

/** An unfinished task as the journal has it, after a restart. It is taken in without asking for admission. */
export interface Restore extends TaskRequest {
  readonly kind: 'restore'
  readonly waiters: readonly Waiter[]
  /** How long ago it was accepted: it keeps its place. */
  readonly ageMs: number
  /** Grid faults so far. */
  readonly faults: number
  readonly lostWorkers: readonly string[]
  /** Granted and not known to have ended: its worker has `reconnectGraceMs` to come back with it. */
  readonly lease?: { readonly worker: string; readonly fencing: Fencing; readonly started: boolean }
  /** Its cancellation was asked for. Without a lease it is cancelled at once. */
  readonly stopping?: boolean
  /** It was waiting for its next try: so much of that is left. */
  readonly retryInMs?: number
}

export interface Register {
  readonly kind: 'register'
  readonly worker: string
  readonly slots: number
  /** Further tasks that it stages ahead of a free slot. */
  readonly prefetch?: number
  /** What it offers; one name may come with several values, and the value `*` is every value. */
  readonly properties: readonly Property[]
  readonly resources: ResourceAmounts
  /** May be taken away at short notice (spot). */
  readonly preemptible?: boolean
  /** Takes tasks only in answer to `ask`; other workers are sent them as slots fall free. */
  readonly pulls?: boolean
  /** What it still has from before. Leases of a known worker that are not listed lapse. */
  readonly running?: readonly Attempt[]
  /** Not admitted before its first heartbeat (it tests itself). */
  readonly notReady?: boolean
}

export interface Heartbeat {
  readonly kind: 'heartbeat'
  readonly worker: string
  /** All that the worker holds, prefetched ones too: those are renewed, the rest end. Without it all are renewed. */
  readonly holds?: readonly Attempt[]
  /** 0 idle … 1 full, as the worker itself measures its machine. */
  readonly load?: number
  /** It wants to be rid of its tasks and leave. */
  readonly draining?: boolean
}

/** How an attempt ended. Only a fault is the grid's: a command that exits with 1 has a result like any other. */
export type AttemptEnd =
  | { readonly kind: 'result'; readonly succeeded: boolean }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'fault'; readonly what: string; readonly final?: boolean }

export interface FinishedReport extends Attempt {
  readonly kind: 'finished'
  readonly worker: string
  readonly outcome: AttemptEnd
}

/** Handed back unstarted, or never delivered: queued again, and nobody's fault. */
export interface ReturnedReport extends Attempt {
  readonly kind: 'returned'
  readonly worker: string
  readonly what: string
  /** It never got there: held against the worker, whereas handing back is not. */
  readonly undelivered?: boolean
  /** The worker had no slot (or staging credit) for it: the server's count was wrong. Not an attempt. */
  readonly noSlot?: boolean
}

/**
 * Everything that can happen to the grid. Only a tick lets time run out: no lease, grace or wait ends in any other
 * event, so that after a stall the shell can hand in what was waiting before it sends the tick.
 */
export type GridEvent =
  | { readonly kind: 'tick' }
  | Submit
  | Restore
  /** One more waiter for a task that is there. */
  | { readonly kind: 'join'; readonly task: string; readonly waiter: Waiter }
  /** One waiter less; without any, the task is cancelled. */
  | { readonly kind: 'leave'; readonly task: string; readonly waiter: Waiter }
  /** Ends the task whoever waits for it. */
  | { readonly kind: 'cancel'; readonly task: string; readonly what?: string }
  | Register
  | Heartbeat
  /** A pulling worker waits for up to `tasks` of them; 0 takes that back. The first effects that lease it any answer it. */
  | { readonly kind: 'ask'; readonly worker: string; readonly tasks: number }
  | ({ readonly kind: 'started'; readonly worker: string } & Attempt)
  | FinishedReport
  | ReturnedReport
  /** Its connection is gone, without a word: a short grace begins. */
  | { readonly kind: 'disconnected'; readonly worker: string }
  /** It said goodbye: what it holds is queued again. */
  | { readonly kind: 'unregister'; readonly worker: string }
  /** It is being taken away (spot): what it holds is queued again, and not held against the task. */
  | { readonly kind: 'preempted'; readonly worker: string }
  /** No new tasks; told to shut down once it is empty, if so wished. */
  | { readonly kind: 'drain'; readonly worker: string; readonly shutdown?: boolean }
  /** Takes a drain back. */
  | { readonly kind: 'resume'; readonly worker: string }
