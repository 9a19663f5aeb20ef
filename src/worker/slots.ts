import type { Clock } from '../base/clock.ts'
import type { AttemptStop, LeaseMessage } from '../wire/workers/lease-stream.ts'

/**
 * Why an attempt was ended from outside: the server requested it; its lease expired by this worker's clock; the worker
 * returned it before its start; or the worker is leaving, and deregistering releases the attempt to other workers.
 */
export type EndReason = AttemptStop | 'lapsed' | 'returned' | 'left'

/** An attempt that this worker holds. */
export interface SlotAttempt {
  readonly lease: LeaseMessage
  readonly signal: AbortSignal
  /**
   * `ahead`: sent before a slot was free, must not start yet. `staging`: in a slot, its command does not run yet.
   * `reporting`: ended, and the server has not acknowledged the report.
   */
  phase: 'ahead' | 'staging' | 'running' | 'reporting'
  /** Resolves when the attempt has a slot. */
  readonly begun: Promise<void>
  /** The reason when the attempt did not end by itself. */
  endedBy: EndReason | undefined
}

export interface WorkerSlots {
  readonly size: number
  /** The number of attempts in a slot. Attempts that are being reported or were prefetched do not occupy a slot. */
  readonly busy: number
  readonly ahead: number
  ids(): string[]
  has(attemptId: string): boolean
  /** Returns undefined when the worker already holds the attempt. */
  take(lease: LeaseMessage): SlotAttempt | undefined
  /** A prefetched attempt has a slot now. */
  begin(attemptId: string): void
  free(held: SlotAttempt): void
  end(attemptId: string, reason: EndReason): void
  /** The server has acknowledged that the worker holds these attempts; `at` is the time of the message (monotonic). */
  renewed(attemptIds: readonly string[], at: number): void
  all(): SlotAttempt[]
  /** The attempt has ended; its report is being sent. */
  reporting(held: SlotAttempt): void
  /** Resolves when no attempt runs, and when nothing is held at all. */
  idle(): Promise<void>
  emptied(): Promise<void>
}

/** The lease time when the server sends none. */
const LEASE_MS = 300_000

interface Slot extends SlotAttempt {
  readonly leaseMs: number
  readonly abort: AbortController
  readonly pass: () => void
  expiresAt: number
  forgetTimer: () => void
}

function newSlot(lease: LeaseMessage, now: number): Slot {
  const abort = new AbortController()
  const leaseMs = lease.expiresInMs > 0 ? lease.expiresInMs : LEASE_MS
  const { promise, resolve } = Promise.withResolvers<void>()
  if (!lease.prefetch) resolve()
  return {
    lease,
    leaseMs,
    abort,
    signal: abort.signal,
    begun: promise,
    pass: resolve,
    phase: lease.prefetch ? 'ahead' : 'staging',
    endedBy: undefined,
    expiresAt: now + leaseMs,
    forgetTimer() {},
  }
}

/** Does nothing for an attempt that has ended by itself. Of several reasons the first counts. */
function endSlot(slot: Slot, reason: EndReason): void {
  if (slot.phase === 'reporting' || slot.endedBy !== undefined) return
  slot.endedBy = reason
  slot.abort.abort()
}

/** Promises that resolve when a condition has become true. */
function eventually() {
  let waiting: { readonly isSo: () => boolean; readonly resolve: () => void }[] = []
  return {
    until: (isSo: () => boolean): Promise<void> =>
      isSo() ? Promise.resolve() : new Promise((resolve) => void waiting.push({ isSo, resolve })),
    changed(): void {
      const due = waiting.filter(({ isSo }) => isSo())
      waiting = waiting.filter((one) => !due.includes(one))
      for (const { resolve } of due) resolve()
    },
  }
}

/**
 * The attempts that a worker holds. The worker ends an attempt by its own clock when the lease could not be renewed,
 * because the server may have assigned the task to another worker by then.
 */
export function openSlots(size: number, clock: Clock): WorkerSlots {
  const held = new Map<string, Slot>()
  const { until, changed } = eventually()
  const count = (...phases: SlotAttempt['phase'][]): number =>
    [...held.values()].filter(({ phase }) => phases.includes(phase)).length

  const watch = (slot: Slot): void => {
    const leftMs = slot.expiresAt - clock.monotonic()
    if (leftMs <= 0) return endSlot(slot, 'lapsed')
    slot.forgetTimer = clock.after(Math.ceil(leftMs), () => watch(slot))
  }
  return {
    size,
    get busy() {
      return count('staging', 'running')
    },
    get ahead() {
      return count('ahead')
    },
    ids: () => [...held.keys()],
    has: (attemptId) => held.has(attemptId),
    take(lease) {
      if (held.has(lease.attemptId)) return undefined
      const slot = newSlot(lease, clock.monotonic())
      held.set(lease.attemptId, slot)
      watch(slot)
      return slot
    },
    begin(attemptId) {
      const slot = held.get(attemptId)
      if (slot?.phase !== 'ahead') return
      slot.phase = 'staging'
      slot.pass()
    },
    free({ lease: { attemptId } }) {
      held.get(attemptId)?.forgetTimer()
      held.delete(attemptId)
      changed()
    },
    end(attemptId, reason) {
      const slot = held.get(attemptId)
      if (slot !== undefined) endSlot(slot, reason)
    },
    renewed(attemptIds, at) {
      for (const id of attemptIds) {
        const slot = held.get(id)
        if (slot !== undefined) slot.expiresAt = Math.max(slot.expiresAt, at + slot.leaseMs)
      }
    },
    all: () => [...held.values()],
    reporting(attempt) {
      attempt.phase = 'reporting'
      changed()
    },
    idle: () => until(() => count('ahead', 'staging', 'running') === 0),
    emptied: () => until(() => held.size === 0),
  }
}
