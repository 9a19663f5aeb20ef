import type { Clock } from '../../../base/clock.ts'
import { connect } from '../../../client/connection/connect.ts'
import { checkReapi, type ReapiReport } from '../check-reapi.ts'
import type { ReapiBehaviour } from '../table/behaviours.ts'
import type { Break } from './break.ts'
import { honest } from './honest.ts'
import { EVERYTHING, type Profile } from './profile.ts'
import { serve } from './serve.ts'

export interface ServerTrial {
  readonly behaviours: readonly ReapiBehaviour[]
  readonly clock: Clock
  readonly profile?: Profile
  /** Undefined for a server without a defect. */
  readonly mistake?: Break
}

/** Long, for busy machines; no test waits until it expires. */
const DEADLINE_MS = 10_000

/** Runs checks against the reference server with at most one defect. */
export async function tryServer({
  behaviours,
  clock,
  profile = EVERYTHING,
  mistake,
}: ServerTrial): Promise<ReapiReport> {
  const right = honest(profile)
  const methods = { ...right.methods, ...mistake?.(right) }
  const { server, address } = await serve(methods, { timing: { now: clock.monotonic, after: clock.after } })
  const channel = connect({ text: 'the reference server', address, secure: false }, { clock })
  try {
    const seed = 'fixed'
    return await checkReapi({ channel, instance: 'a/b', behaviours, seed, clock, deadlineMs: DEADLINE_MS, atOnce: 8 })
  } finally {
    channel.close()
    server.close()
  }
}

/** Some behaviours apply only to servers with fewer features. */
export const profileFor = ({ needs }: ReapiBehaviour): Profile => ({
  update: !needs.includes('read-only'),
  split: !needs.includes('no-split'),
  splice: !needs.includes('no-splice'),
})
