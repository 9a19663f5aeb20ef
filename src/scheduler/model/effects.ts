import type { Fencing } from '../../model/fencing.ts'
import type { FinalState } from '../../model/task-state.ts'
import type { WorkerState } from '../../model/worker-state.ts'
import type { Instant, Waiter } from './events.ts'

/** Why a task was refused. Each door maps this to its own error. */
export type RefusalWhy = 'queue-full' | 'quota' | 'rate' | 'unknown-property' | 'duplicate' | 'invalid'

/** Why a task ended without a result of its own. */
export type EndWhy =
  | 'result'
  | 'timeout'
  | 'cancelled'
  /** No worker fits, and the grace time is over. */
  | 'no-worker'
  /** It was lost with more than `maxLostWorkers` different workers. */
  | 'poison'
  /** More than `maxRetries` grid faults. */
  | 'faults'
  /** A fault that would recur on every worker. */
  | 'hopeless'
  /** The journal could not record the result: it is lost, and only the end of the task is known. */
  | 'unrecorded'

/** Why a worker must stop an attempt. A recalled attempt was only staged, and was leased to another worker. */
export type StopWhy = 'cancelled' | 'timeout' | 'recalled' | 'superseded'

/** The decisions of an event, in order, as plain data. The engine applies them. */
export type Effect =
  | {
      readonly kind: 'refused'
      readonly task: string
      readonly why: RefusalWhy
      readonly what: string
      /** Absent when a retry would be refused, too. */
      readonly retryAfterMs?: number
    }
  /** The submission is identical to `task`; its waiter has joined that task, and its own id is not used. */
  | { readonly kind: 'merged'; readonly task: string; readonly submitted: string; readonly waiter: Waiter }
  /** A merge raised its priority. */
  | { readonly kind: 'raised'; readonly task: string; readonly priority: number }
  /** It waits for a slot: newly accepted (attempt 1), or again, with its number of grid faults. */
  | { readonly kind: 'queued'; readonly task: string; readonly attempt: number; readonly faults?: number }
  | {
      readonly kind: 'leased'
      readonly task: string
      readonly worker: string
      readonly fencing: Fencing
      readonly attempt: number
      readonly expiresAt: Instant
      /** The worker stages the inputs, and starts the task only after `begin`. */
      readonly prefetch: boolean
    }
  /** A slot is free for a staged task. */
  | { readonly kind: 'begin'; readonly task: string; readonly worker: string; readonly fencing: Fencing }
  | { readonly kind: 'started'; readonly task: string; readonly worker: string; readonly fencing: Fencing }
  /** A tick queues it again at `dueAt`; or it is queued at once, and a `queued` effect follows. */
  | {
      readonly kind: 'retrying'
      readonly task: string
      readonly what: string
      readonly faults: number
      readonly lostWorkers: readonly string[]
      readonly dueAt: Instant
    }
  /** Cancelled; its worker has not confirmed yet. */
  | { readonly kind: 'stopping'; readonly task: string }
  /** The worker must stop the attempt and clean up. */
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
      /** The fencing number of its last lease, if it had one. */
      readonly fencing?: Fencing
    }
  /** A report for an ended lease: it is recorded, not applied. */
  | { readonly kind: 'superseded'; readonly task: string; readonly worker: string; readonly fencing: Fencing }
  | { readonly kind: 'worker'; readonly worker: string; readonly state: WorkerState; readonly what: string }
  /** An order to the worker. */
  | { readonly kind: 'order'; readonly worker: string; readonly order: 'drain' | 'resume' | 'shutdown' | 'register' }
