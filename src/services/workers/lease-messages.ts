import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import type { WorkerService } from '../../engine/worker-calls/worker-service.ts'
import type { TaskLease } from '../../engine/workers/worker-session.ts'
import { actionOfSpec } from '../../wire/tasks/task-spec.ts'
import type { LeaseMessage } from '../../wire/workers/lease.ts'

const NOTHING = new Uint8Array()

export interface LeaseReceiver {
  readonly desk: WorkerService
  readonly worker: string
  /** It reads what is to be run from the lease itself; others know nothing but actions. */
  readonly wantsSpec: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Leases in the words of the protocol. One that cannot be told in them ends here, and its task hears why. */
export function leaseMessages(leases: readonly TaskLease[], telling: LeaseReceiver): LeaseMessage[] {
  return leases.flatMap((lease) => {
    try {
      return [leaseWord(lease, telling)]
    } catch (error) {
      refuseLease(lease, telling, error)
      return []
    }
  })
}

function leaseWord(lease: TaskLease, { wantsSpec, now }: LeaseReceiver): LeaseMessage {
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
 * A worker that knows the digest only can do nothing but actions. That such a worker is not offered anything else is for
 * the scheduler to see to, by a property; should it happen all the same, another worker is tried.
 */
function actionDigestOf(lease: TaskLease, wantsSpec: boolean): string {
  const { origin } = lease
  const digest = actionOfSpec(lease)?.actionDigest
  if (digest !== undefined) return formatDigest(digest)
  if (wantsSpec) return ''
  throw new FaultError({ kind: 'unavailable', what: `a worker that runs actions only was given a task from ${origin}` })
}

/** Its task hears why. */
export function refuseLease(
  { attemptId }: TaskLease,
  { desk, worker }: Pick<LeaseReceiver, 'desk' | 'worker'>,
  error: unknown,
): void {
  const what = error instanceof Error ? error.message : String(error)
  const final = error instanceof FaultError && error.fault.kind === 'invalid'
  // On its own turn: this may be within a call of the engine, which is not done with the lease yet.
  setImmediate(() => {
    void desk.finished({ worker, attemptId }, { outcome: { kind: 'fault', what, final } }).catch(() => {})
  })
}
