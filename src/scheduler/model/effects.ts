import type { Fencing } from '../../model/fencing.ts'
import type { FinalState } from '../../model/task-state.ts'
import type { WorkerState } from '../../model/worker-state.ts'
import type { Instant, Waiter } from './events.ts'

/** Why a task was not taken in, for a door to put into its own words. */
export type RefusalWhy = 'queue-full' | 'quota' | 'rate' | 'unknown-property' | 'duplicate' | 'invalid'

/** Why a task ended without a result of its own. */
export type EndWhy =
  | 'result'
  | 'timeout'
  | 'cancelled'
  /** Nothing fits it, and the grace time is over. */
  | 'no-worker'
  /** It was lost together with more different workers than may be. */
  | 'poison'
  /** Grid faults, more often than may be. */
  | 'faults'
  /** A fault of which it was said that it would come again wherever the task ran. */
  | 'hopeless'
  /** How it ended could not be put on record: its result is lost, and only that it is over is known. */
  | 'unrecorded'

/** Why a worker should end an attempt. A recalled one was only staged, and has gone elsewhere. */
export type StopWhy = 'cancelled' | 'timeout' | 'recalled' | 'superseded'

/** What the shell is to do. Plain data: all that was decided, in order. */
export type Effect =
  | {
      readonly kind: 'refused'
      readonly task: string
      readonly why: RefusalWhy
      readonly what: string
      /** Absent when asking again will not help. */
      readonly retryAfterMs?: number
    }
  /** The submitted task is the same as `task`, which its waiter has joined; the submitted id is not used. */
  | { readonly kind: 'merged'; readonly task: string; readonly submitted: string; readonly waiter: Waiter }
  /** A merge made it more urgent. */
  | { readonly kind: 'raised'; readonly task: string; readonly priority: number }
  /** It waits for a slot: newly accepted (attempt 1), or again, with the grid faults that it has had so far. */
  | { readonly kind: 'queued'; readonly task: string; readonly attempt: number; readonly faults?: number }
  | {
      readonly kind: 'leased'
      readonly task: string
      readonly worker: string
      readonly fencing: Fencing
      readonly attempt: number
      readonly expiresAt: Instant
      /** Stage its inputs, and start it only when told to `begin`. */
      readonly prefetch: boolean
    }
  /** A slot is free for what the worker staged ahead. */
  | { readonly kind: 'begin'; readonly task: string; readonly worker: string; readonly fencing: Fencing }
  | { readonly kind: 'started'; readonly task: string; readonly worker: string; readonly fencing: Fencing }
  /** Queued again at `dueAt`, by a tick; or at once, when a `queued` follows. */
  | {
      readonly kind: 'retrying'
      readonly task: string
      readonly what: string
      readonly faults: number
      readonly lostWorkers: readonly string[]
      readonly dueAt: Instant
    }
  /** Cancelled, and its worker has not yet confirmed. */
  | { readonly kind: 'stopping'; readonly task: string }
  /** Tell the worker to end the attempt and clean up. */
  | {
      readonly kind: 'stop'
      readonly task: string
      readonly worker: string
      readonly fencing: Fencing
      readonly why: StopWhy
    }
  | {
      readonly kind: 'finished'
      readonly task: string
      readonly state: FinalState
      readonly why: EndWhy
      readonly what: string
      /** The lease that it ended under, if it had one. */
      readonly fencing?: Fencing
    }
  /** A report under a lease that is not the task's any more: to be recorded, and not applied. */
  | { readonly kind: 'superseded'; readonly task: string; readonly worker: string; readonly fencing: Fencing }
  | { readonly kind: 'worker'; readonly worker: string; readonly state: WorkerState; readonly what: string }
  /** Tell the worker. */
  | { readonly kind: 'order'; readonly worker: string; readonly order: 'drain' | 'resume' | 'shutdown' | 'register' }
