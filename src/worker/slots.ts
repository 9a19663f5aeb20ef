import type { Clock } from '../base/clock.ts'
import type { LeaseMessage } from '../wire/workers/lease.ts'
import type { AttemptStop } from '../wire/workers/stream.ts'

/**
 * Why an attempt was ended from outside: the server's word; its lease ran out by our own clock; we hand it back; or we
 * leave, and saying goodbye gives it to others.
 */
export type EndReason = AttemptStop | 'lapsed' | 'returned' | 'left'

/** An attempt that we hold. */
export interface SlotAttempt {
  readonly lease: LeaseMessage
  readonly signal: AbortSignal
  /**
   * Sent ahead of a slot, and not to be started; in a slot, and its command not running yet; running; or ended, and the
   * server has not yet heard of it.
   */
  phase: 'ahead' | 'staging' | 'running' | 'reporting'
  /** Resolves when it has its slot. */
  readonly begun: Promise<void>
  /** The reason when the attempt did not end by itself. */
  endedBy: EndReason | undefined
}

export interface WorkerSlots {
  readonly size: number
  /** Attempts that take a slot: those whose end is only being told take none, nor do those that were sent ahead. */
  readonly busy: number
  readonly ahead: number
  ids(): string[]
  /** Undefined when it is held already. */
  take(lease: LeaseMessage): SlotAttempt | undefined
  /** One that was sent ahead has its slot now. */
  begin(attemptId: string): void
  free(held: SlotAttempt): void
  end(attemptId: string, word: EndReason): void
  /** The server has heard that we hold these, at this moment of the monotonic clock. */
  renewed(attemptIds: readonly string[], at: number): void
  all(): SlotAttempt[]
  /** It has ended, and only the server has to hear of it. */
  reporting(held: SlotAttempt): void
  /** Resolves when no attempt runs, and when nothing is held at all. */
  idle(): Promise<void>
  emptied(): Promise<void>
}

/** When the server does not say. */
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

/** What has ended by itself has ended, and of several who end it the first counts. */
function endSlot(slot: Slot, word: EndReason): void {
  if (slot.phase === 'reporting' || slot.endedBy !== undefined) return
  slot.endedBy = word
  slot.abort.abort()
}

/** Promises that come true when something has changed to be so. */
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
 * What a worker holds. Each attempt is ended by our own clock when its lease could not be renewed: by then the server
 * may have given it to another.
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
    end(attemptId, word) {
      const slot = held.get(attemptId)
      if (slot !== undefined) endSlot(slot, word)
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
