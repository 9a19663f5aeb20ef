/**
 * Repeats writes after the journal failed, for example on a full disk. Tasks whose facts were not written are kept and
 * written again, with their state of that time, when the journal works. Until then their ends are reported to no caller,
 * and new tasks are refused.
 */
import type { Clock } from '../../base/clock.ts'
import type { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import { forgetGiven, type LiveTask, operationsOf } from '../tasks/live-task.ts'
import { isClosed, isUnsettled, moveRecord } from '../tasks/record-state.ts'
import type { Timers } from '../tasks/timers.ts'

const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 15_000

/** The journal fails at present. */
export interface JournalTrouble {
  readonly error: FaultError
  readonly delayMs: number
  /** New tasks are refused until then; on the monotonic clock. */
  readonly until: number
}

export interface JournalRepair {
  readonly trouble: JournalTrouble | undefined
  /** Tasks whose facts have to be written again. */
  readonly size: number
  /** Keeps a task of a failed write. */
  keep(task: LiveTask): void
  /** Schedules the next try. Failures before that time count as the same trouble. */
  failed(error: FaultError): void
  /** The journal works: writes all kept tasks again. */
  recovered(): void
}

export interface RepairOptions {
  readonly clock: Clock
  readonly log: Log
  readonly timers: Timers
  readonly isClosing: () => boolean
  /** Writes one task in a call of its own: one that cannot be written must not hold up another. */
  readonly write: (task: LiveTask) => void
}

export function journalRepair({ clock, log, timers, isClosing, write }: RepairOptions): JournalRepair {
  const kept = new Set<LiveTask>()
  let trouble: JournalTrouble | undefined
  const retry = (task: LiveTask): boolean => {
    kept.delete(task)
    if (!isUnsettled(task)) return false // its end was acknowledged meanwhile
    moveRecord(task, 'retry')
    write(task)
    return true
  }
  /** One task shows whether the journal works; its outcome decides about the others. */
  const tryOne = (): void => {
    for (const task of kept) if (retry(task)) return
  }
  return {
    get trouble() {
      return trouble
    },
    get size() {
      return kept.size
    },
    keep(task) {
      if (isClosed(task)) return
      moveRecord(task, 'fail')
      forgetGiven(task)
      for (const operation of operationsOf(task)) operation.isLeftRecorded = false
      kept.add(task)
    },
    failed(error) {
      const now = clock.monotonic()
      if (isClosing() || (trouble !== undefined && now < trouble.until)) return
      if (trouble === undefined) log.error({ error }, 'journal write failed, retrying')
      const delayMs = Math.min(LONGEST_DELAY_MS, (trouble?.delayMs ?? FIRST_DELAY_MS / 2) * 2)
      trouble = { error, delayMs, until: now + delayMs }
      timers.set('repair', delayMs, tryOne)
    },
    recovered() {
      if (trouble !== undefined) log.info({ tasks: kept.size }, 'journal writes recovered')
      trouble = undefined
      for (const task of [...kept]) retry(task)
    },
  }
}
