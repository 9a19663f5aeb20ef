import type { Clock } from '../base/clock.ts'
import type { LeaseMessage } from '../wire/worker-lease.ts'
import type { StopWord } from '../wire/worker-stream.ts'

/**
 * Why an attempt was ended from outside: the server's word; its lease ran out by our own clock; we hand it back; or we
 * leave, and saying goodbye gives it to others.
 */
export type EndWord = StopWord | 'lapsed' | 'returned' | 'left'

/** An attempt that we hold. */
export interface HeldAttempt {
  readonly lease: LeaseMessage
  readonly signal: AbortSignal
  /** Its command is not running yet; it is; or it has ended, and the server has not yet heard of it. */
  phase: 'staging' | 'running' | 'reporting'
  /** Who ended it, when it did not end by itself. */
  endedBy: EndWord | undefined
}

export interface Slots {
  readonly size: number
  /** Attempts that take a slot: those whose end is only being told take none. */
  readonly busy: number
  ids(): string[]
  /** Undefined when it is held already. */
  take(lease: LeaseMessage): HeldAttempt | undefined
  free(held: HeldAttempt): void
  end(attemptId: string, word: EndWord): void
  /** The server has heard that we hold these, at this moment of the monotonic clock. */
  renewed(attemptIds: readonly string[], at: number): void
  all(): HeldAttempt[]
  /** It has ended, and only the server has to hear of it. */
  reporting(held: HeldAttempt): void
  /** Resolves when no attempt runs, and when nothing is held at all. */
  idle(): Promise<void>
  emptied(): Promise<void>
}

/** When the server does not say. */
const LEASE_MS = 300_000

interface Slot extends HeldAttempt {
  readonly leaseMs: number
  readonly abort: AbortController
  expiresAt: number
  forgetTimer: () => void
}

function newSlot(lease: LeaseMessage, now: number): Slot {
  const abort = new AbortController()
  const leaseMs = lease.expiresInMs > 0 ? lease.expiresInMs : LEASE_MS
  return {
    lease,
    leaseMs,
    abort,
    signal: abort.signal,
    phase: 'staging',
    endedBy: undefined,
    expiresAt: now + leaseMs,
    forgetTimer() {},
  }
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
export function openSlots(size: number, clock: Clock): Slots {
  const held = new Map<string, Slot>()
  const { until, changed } = eventually()
  const busy = (): number => [...held.values()].filter(({ phase }) => phase !== 'reporting').length

  const end = (slot: Slot, word: EndWord): void => {
    if (slot.phase === 'reporting' || slot.endedBy !== undefined) return
    slot.endedBy = word
    slot.abort.abort()
  }
  const watch = (slot: Slot): void => {
    const leftMs = slot.expiresAt - clock.monotonic()
    if (leftMs <= 0) return end(slot, 'lapsed')
    slot.forgetTimer = clock.after(Math.ceil(leftMs), () => watch(slot))
  }
  return {
    size,
    get busy() {
      return busy()
    },
    ids: () => [...held.keys()],
    take(lease) {
      if (held.has(lease.attemptId)) return undefined
      const slot = newSlot(lease, clock.monotonic())
      held.set(lease.attemptId, slot)
      watch(slot)
      return slot
    },
    free({ lease: { attemptId } }) {
      held.get(attemptId)?.forgetTimer()
      held.delete(attemptId)
      changed()
    },
    end(attemptId, word) {
      const slot = held.get(attemptId)
      if (slot !== undefined) end(slot, word)
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
    idle: () => until(() => busy() === 0),
    emptied: () => until(() => held.size === 0),
  }
}
