import type { Clock } from '../../../base/clock.ts'
import { GrpcError } from '../../../grpc/status.ts'
import { statusText, Unmet } from '../../unmet.ts'
import type { Probe } from '../probe/probe.ts'

/** Long enough for a worker that has to be started; on a server without workers every check would wait this long. */
const LONGEST_WAIT_MS = 15_000

/**
 * Returns undefined when a worker runs commands, else the reason. Tested once, before the checks, so that a missing
 * worker is one finding and not a hundred.
 */
export async function whyNothingRuns(
  { executions }: Probe,
  { clock, deadlineMs }: { readonly clock: Clock; readonly deadlineMs: number },
): Promise<string | undefined> {
  const waitMs = Math.min(LONGEST_WAIT_MS, deadlineMs)
  const late = Promise.withResolvers<'late'>()
  const cancelLate = clock.after(waitMs, () => late.resolve('late'))
  try {
    const run = executions.run({ script: 'exit 0', action: { doNotCache: true } })
    const ran = await Promise.race([run, late.promise])
    if (ran === 'late') return `no worker ran a command within ${waitMs / 1000} s`
    return ran.result.exitCode === 0 ? undefined : `/bin/sh -c 'exit 0' ended with exit code ${ran.result.exitCode}`
  } catch (error) {
    if (error instanceof Unmet) return error.seen
    if (error instanceof GrpcError) return statusText(error)
    throw error
  } finally {
    cancelLate()
  }
}
