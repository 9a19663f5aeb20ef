import { Unmet } from '../../unmet.ts'
import type { Check, Probe } from '../probe/probe.ts'

/** Durations of a command that the check must observe while it runs: one second is enough, except on a busy server. */
const SECONDS = 1
const MORE_SECONDS = 4

/** Repeats a check that must observe a running command with a longer command before it fails. */
export const patiently =
  (check: (probe: Probe, seconds: number) => Promise<void>): Check =>
  async (probe) => {
    try {
      await check(probe, SECONDS)
    } catch (error) {
      if (!(error instanceof Unmet)) throw error
      await check(probe, MORE_SECONDS)
    }
  }
