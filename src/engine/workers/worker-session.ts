import type { Digest } from '../../base/digest.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { InputEvent } from '../../model/live-input.ts'
import type { WorkerState } from '../../model/worker-state.ts'
import type { StopWhy } from '../../scheduler/model/effects.ts'
import type { AttemptEnd, Property, ResourceAmounts } from '../../scheduler/model/events.ts'

/** The description that a worker sends when it registers. */
export interface WorkerDescription {
  readonly worker: string
  readonly slots: number
  readonly prefetch?: number
  readonly properties: readonly Property[]
  readonly resources?: ResourceAmounts
  readonly preemptible?: boolean
  /** It receives leases only in answer to `ask`. */
  readonly pulls?: boolean
  /** The ids of the attempts that it still holds from an earlier registration. */
  readonly running?: readonly string[]
  /** It gets no tasks before its first heartbeat. */
  readonly notReady?: boolean
  /** For people: host, version, isolation. The engine does not read it. */
  readonly about?: Readonly<Record<string, string>>
}

/** A lease with the task, as it is sent to the worker. */
export interface TaskLease {
  /** Identifies the attempt in all calls of the worker: task and fencing number. */
  readonly attemptId: string
  readonly task: string
  /** The number of the attempt, from 1. */
  readonly attempt: number
  readonly operation: string
  readonly instance: InstanceName
  readonly origin: string
  readonly spec: Uint8Array
  readonly timeoutMs: number | undefined
  /** Milliseconds since 1970; every heartbeat extends it. */
  readonly expiresAt: number
  /** Milliseconds since 1970. */
  readonly queuedAt: number
  /** The worker stages the inputs, and starts the task only after `begin`. */
  readonly prefetch: boolean
}

/** An input to one task, numbered from 1. It is sent again on a new session when the worker has not acknowledged it. */
export interface NumberedInput {
  readonly number: number
  readonly event: InputEvent
}

export type WorkerOrder = 'drain' | 'resume' | 'shutdown' | 'register'

/**
 * The calls of the engine to a worker. Doors implement them. They must not block or throw. A door that cannot send a
 * message now (to a worker that polls) keeps it for the worker's next call.
 */
export interface WorkerSession {
  lease(leases: readonly TaskLease[]): void
  /** A slot is free for an attempt that was staged ahead. */
  begin(attemptId: string): void
  stop(attemptId: string, why: StopWhy): void
  order(order: WorkerOrder): void
  /** Sends an input to a running attempt. Absent where the protocol cannot carry it. */
  input?(attemptId: string, input: NumberedInput): void
  /** The last call: the worker is lost, or has registered again. */
  close(what: string): void
}

export interface WorkerPulse {
  /** The ids of all attempts that it holds: their leases are renewed and all others end. Absent: all are renewed. */
  readonly holds?: readonly string[]
  readonly load?: number
  readonly draining?: boolean
  /** Its machine is being preempted: its tasks are queued again at once. */
  readonly preempted?: boolean
}

/** An attempt and the worker that names it. */
export interface WorkersAttempt {
  readonly worker: string
  readonly attemptId: string
}

/** The end of an attempt. */
export interface AttemptReport {
  readonly outcome: AttemptEnd
  /** The engine copies it at once. */
  readonly result?: Uint8Array
  /** Blobs that the result names; pinned until the result is deleted. */
  readonly roots?: readonly Digest[]
}

/** A worker, as operators see it. */
export interface WorkerView extends Omit<WorkerDescription, 'running'> {
  readonly state: WorkerState
  /** Set while it is disconnected: its tasks and languages are kept for the disconnect grace. */
  readonly isCutOff?: boolean
  /** Why it is in that state. */
  readonly what: string
  readonly registeredAt: number
  readonly heardAt: number
  readonly leases: number
}
