import type { Digest } from '../../base/digest.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { InputEvent } from '../../model/live-input.ts'
import type { WorkerState } from '../../model/worker-state.ts'
import type { StopWhy } from '../../scheduler/model/effects.ts'
import type { AttemptEnd, Property, ResourceAmounts } from '../../scheduler/model/events.ts'

/** What a worker says of itself when it comes. */
export interface WorkerDescription {
  readonly worker: string
  readonly slots: number
  readonly prefetch?: number
  readonly properties: readonly Property[]
  readonly resources?: ResourceAmounts
  readonly preemptible?: boolean
  /** Takes tasks only in answer to `ask`. */
  readonly pulls?: boolean
  /** The ids of the attempts that it still has from before. */
  readonly running?: readonly string[]
  /** Not admitted before its first heartbeat. */
  readonly notReady?: boolean
  /** For people: host, version, isolation. The engine does not look into it. */
  readonly about?: Readonly<Record<string, string>>
}

/** What a worker is given with its right to an attempt. */
export interface TaskLease {
  /** What the worker knows the attempt by, and sends back: task and fencing number. */
  readonly attemptId: string
  readonly task: string
  /** 1 for the first. */
  readonly attempt: number
  readonly operation: string
  readonly instance: InstanceName
  readonly origin: string
  readonly spec: Uint8Array
  readonly timeoutMs: number | undefined
  /** Milliseconds since 1970; every heartbeat moves it on. */
  readonly expiresAt: number
  /** Milliseconds since 1970. */
  readonly queuedAt: number
  /** Stage its inputs, and start it only when told to begin. */
  readonly prefetch: boolean
}

/** An input to one task, numbered from 1. It is sent again on a new session when the worker has not acknowledged it. */
export interface NumberedInput {
  readonly number: number
  readonly event: InputEvent
}

export type WorkerOrder = 'drain' | 'resume' | 'shutdown' | 'register'

/**
 * How a door talks back to its worker. None of these may block or throw; what a door cannot send now (a worker that only
 * polls) it keeps for the worker's next call.
 */
export interface WorkerSession {
  lease(leases: readonly TaskLease[]): void
  /** A slot is free for what was staged ahead. */
  begin(attemptId: string): void
  stop(attemptId: string, why: StopWhy): void
  order(order: WorkerOrder): void
  /** Somebody does something to an attempt that runs. Missing where there is no way to tell the worker. */
  input?(attemptId: string, input: NumberedInput): void
  /** Nothing more comes this way: the worker is gone, or has registered anew. */
  over(what: string): void
}

export interface WorkerPulse {
  /** The ids of all attempts that it holds: those are renewed and the rest end. Without it all are renewed. */
  readonly holds?: readonly string[]
  readonly load?: number
  readonly draining?: boolean
  /** Its machine is being taken away: what it holds goes to other workers at once. */
  readonly preempted?: boolean
}

/** An attempt and the worker that names it. */
export interface WorkersAttempt {
  readonly worker: string
  readonly attemptId: string
}

/** How an attempt ended. */
export interface AttemptReport {
  readonly outcome: AttemptEnd
  /** Copied at once. */
  readonly result?: Uint8Array
  /** Blobs that the result names: kept for as long as it is. */
  readonly roots?: readonly Digest[]
}

/** For the console. */
export interface WorkerView extends Omit<WorkerDescription, 'running'> {
  readonly state: WorkerState
  /** OFFLINE for now: its tasks and languages are kept for the disconnect grace. */
  readonly isCutOff?: boolean
  /** Why it is in that state. */
  readonly what: string
  readonly registeredAt: number
  readonly heardAt: number
  readonly leases: number
}
