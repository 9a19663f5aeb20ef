import type { Clock } from '../base/clock.ts'
import type { WorkerSlots } from './slots.ts'

export interface DrainOptions {
  readonly clock: Clock
  readonly drainMs: number
}

/** After which an attempt that was killed and has not ended is left to itself. */
const KILL_MS = 10_000

/** What has not started goes back at once; the rest may finish for a while, and is then ended. */
export async function drainSlots(slots: WorkerSlots, { clock, drainMs }: DrainOptions): Promise<void> {
  for (const { lease, phase } of slots.all())
    if (phase === 'ahead' || phase === 'staging') slots.end(lease.attemptId, 'returned')
  if (await within(slots.emptied(), clock, drainMs)) return
  for (const { lease } of slots.all()) slots.end(lease.attemptId, 'left')
  await within(slots.idle(), clock, KILL_MS)
}

export interface PreemptionOptions {
  readonly clock: Clock
  /** How long the machine is still there. */
  readonly preemptMs: number
  /** Reports it to the server; false when the server could not be reached. */
  readonly report: () => Promise<boolean>
}

/** Before the report is sent again to a server that could not be reached. */
const REPORT_AGAIN_MS = 500

/**
 * The machine is being taken away. The server gives the tasks to other workers as soon as it has the report, so it is
 * sent first; then every command is ended, for its result does not count any more.
 */
export async function giveUpSlots(slots: WorkerSlots, { clock, preemptMs, report }: PreemptionOptions): Promise<void> {
  const end = clock.monotonic() + preemptMs
  const reported = reportUntil(end, report, clock)
  for (const { lease } of slots.all()) slots.end(lease.attemptId, 'left')
  await within(Promise.all([slots.idle(), reported]), clock, preemptMs)
}

async function reportUntil(end: number, report: () => Promise<boolean>, clock: Clock): Promise<void> {
  while (!(await report()) && clock.monotonic() < end)
    await new Promise<void>((resolve) => void clock.after(REPORT_AGAIN_MS, resolve))
}

function within(done: Promise<unknown>, clock: Clock, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const forget = clock.after(ms, () => resolve(false))
    void done.then(() => {
      forget()
      resolve(true)
    })
  })
}
