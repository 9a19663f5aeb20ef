import type { Clock } from '../base/clock.ts'
import type { WorkerSlots } from './slots.ts'

export interface DrainOptions {
  readonly clock: Clock
  readonly drainMs: number
}

/** The time to wait for an attempt that was killed. */
const KILL_MS = 10_000

/** Returns attempts that have not started. Waits up to `drainMs` for running attempts, and then kills them. */
export async function drainSlots(slots: WorkerSlots, { clock, drainMs }: DrainOptions): Promise<void> {
  for (const { lease, phase } of slots.all())
    if (phase === 'ahead' || phase === 'staging') slots.end(lease.attemptId, 'returned')
  if (await within(slots.emptied(), clock, drainMs)) return
  for (const { lease } of slots.all()) slots.end(lease.attemptId, 'left')
  await within(slots.idle(), clock, KILL_MS)
}

export interface PreemptionOptions {
  readonly clock: Clock
  /** The time until the machine is lost. */
  readonly preemptMs: number
  /** Reports the preemption to the server; false when the server could not be reached. */
  readonly report: () => Promise<boolean>
}

/** The pause before the next report to a server that could not be reached. */
const REPORT_AGAIN_MS = 500

/**
 * The machine is being preempted. The server assigns the tasks to other workers as soon as it has the report, so the
 * report is sent first. Then every command is killed: the server would ignore its result.
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
