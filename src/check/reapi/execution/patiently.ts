import { Unmet } from '../../unmet.ts'
import type { Check, Probe } from '../probe/probe.ts'

/** How long a command takes that has to be seen running: a second is enough, unless somebody has much else to do. */
const SECONDS = 1
const MORE_SECONDS = 4

/** What has to be seen while a command runs is looked for again while one runs for longer, before it is missed. */
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
