import { FaultError } from '../../base/fault.ts'
import type { WorkerService } from '../../engine/workers/worker-service.ts'
import type { TaskLease, WorkerSession } from '../../engine/workers/worker-session.ts'
import { actionDigestText } from '../../wire/tasks/task-spec.ts'
import type { LeaseMessage } from '../../wire/workers/lease-stream.ts'

const NOTHING = new Uint8Array()

export interface LeaseReceiver {
  readonly service: WorkerService
  readonly worker: string
  /** The worker runs tasks of every kind from their spec; other workers run actions only. */
  readonly wantsSpec: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Converts leases to messages. A lease that has no message is ended with a fault. */
export function leaseMessages(leases: readonly TaskLease[], receiver: LeaseReceiver): LeaseMessage[] {
  return leases.flatMap((lease) => {
    try {
      return [leaseMessage(lease, receiver)]
    } catch (error) {
      refuseLease(lease, receiver, error)
      return []
    }
  })
}

function leaseMessage(lease: TaskLease, { wantsSpec, now }: LeaseReceiver): LeaseMessage {
  const { attemptId, operation, timeoutMs, expiresAt, attempt, prefetch, instance, origin } = lease
  return {
    attemptId,
    operation,
    actionDigest: actionDigestOf(lease, wantsSpec),
    timeoutMs,
    expiresAt,
    expiresInMs: Math.max(0, expiresAt - now),
    spec: wantsSpec ? lease.spec : NOTHING,
    attempt,
    prefetch,
    instance,
    origin,
    queuedAt: lease.queuedAt,
  }
}

/**
 * A worker without specs gets the digest only and can run actions only. The scheduler offers it nothing else, because
 * its registration lacks the property of other tasks; if it does, the task is retried on another worker.
 */
function actionDigestOf(lease: TaskLease, wantsSpec: boolean): string {
  const digest = actionDigestText(lease)
  if (digest !== undefined) return digest
  if (wantsSpec) return ''
  const what = `a worker that runs actions only was given a task from ${lease.origin}`
  throw new FaultError({ kind: 'unavailable', what })
}

/** Ends the attempt with a fault. */
export function refuseLease(
  { attemptId }: TaskLease,
  { service, worker }: Pick<LeaseReceiver, 'service' | 'worker'>,
  error: unknown,
): void {
  const what = error instanceof Error ? error.message : String(error)
  const final = error instanceof FaultError && error.fault.kind === 'invalid'
  // In a later turn: the engine may be in the call that grants this lease.
  setImmediate(() => {
    void service.finished({ worker, attemptId }, { outcome: { kind: 'fault', what, final } }).catch(() => {})
  })
}

type StopWhy = Parameters<WorkerSession['stop']>[1]

/** Limit for a worker that never confirms cancellations. */
const MOST_CANCELLED = 10_000
/** Ids of attempts are far shorter. A worker invented a longer one, so it is not stored. */
const LONGEST_ID = 256

/**
 * Attempts of a worker that does not list them. Its heartbeats renew all of them, so a lease that did not reach the
 * worker would be renewed forever and never run. So an attempt that has not begun when its lease expires counts as
 * lost.
 */
export class HeldAttempts {
  /** `running`: the attempts that the worker still runs from an earlier session. */
  constructor(running: readonly string[] = []) {
    for (const id of running) this.#held.set(id, { expiresAt: 0, isBegun: true })
  }

  readonly #held = new Map<string, { readonly expiresAt: number; isBegun: boolean }>()
  readonly #cancelled = new Set<string>()

  given(attemptId: string, expiresAt: number): void {
    this.#held.set(attemptId, { expiresAt, isBegun: false })
  }

  begun(attemptId: string): void {
    const held = this.#held.get(attemptId)
    if (held !== undefined) held.isBegun = true
  }

  ended(attemptId: string): void {
    this.#held.delete(attemptId)
    this.#cancelled.delete(attemptId)
  }

  /** Repeated with every heartbeat until the attempt has ended. A superseded attempt is not renewed. */
  cancel(attemptId: string, why: StopWhy): void {
    if (why !== 'cancelled') this.#held.delete(attemptId)
    if (attemptId.length > LONGEST_ID) return
    this.#cancelled.add(attemptId)
    const [oldest] = this.#cancelled
    if (this.#cancelled.size > MOST_CANCELLED && oldest !== undefined) this.#cancelled.delete(oldest)
  }

  /** The attempts that a heartbeat renews; `listed` are those that it names. */
  renewedBy(listed: readonly string[] | undefined, now: number): readonly string[] {
    if (listed !== undefined) {
      const known = new Set(listed)
      for (const id of [...this.#held.keys(), ...this.#cancelled]) if (!known.has(id)) this.ended(id)
      return listed
    }
    for (const [id, { expiresAt, isBegun }] of this.#held) if (!isBegun && expiresAt < now) this.ended(id)
    return [...this.#held.keys()]
  }

  get toCancel(): readonly string[] {
    return [...this.#cancelled]
  }
}
