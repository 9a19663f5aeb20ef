import type { Clock } from '../base/clock.ts'
import type { Slots } from './slots.ts'

export interface DrainOptions {
  readonly clock: Clock
  readonly drainMs: number
}

/** After which an attempt that was killed and has not ended is left to itself. */
const KILL_MS = 10_000

/** What has not started goes back at once; the rest may finish for a while, and is then ended. */
export async function drainSlots(slots: Slots, { clock, drainMs }: DrainOptions): Promise<void> {
  for (const { lease, phase } of slots.all())
    if (phase === 'ahead' || phase === 'staging') slots.end(lease.attemptId, 'returned')
  if (await within(slots.emptied(), clock, drainMs)) return
  for (const { lease } of slots.all()) slots.end(lease.attemptId, 'left')
  await within(slots.idle(), clock, KILL_MS)
}

function within(done: Promise<void>, clock: Clock, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const forget = clock.after(ms, () => resolve(false))
    void done.then(() => {
      forget()
      resolve(true)
    })
  })
}
