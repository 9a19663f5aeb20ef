import { availableParallelism } from 'node:os'
import type { Clock } from '../../base/clock.ts'
import { type CpuFigures, foreignLoad, ownCpuFigures } from '../../runtimes/cgroups/cpu-pressure.ts'

/**
 * Returns the load since the last heartbeat. Undefined (the server then assumes 0) where the kernel has no figures for
 * this worker alone: a load that includes other programs or the worker's own tasks would withdraw slots without cause.
 */
export function workerLoad(launcherName: string, clock: Clock): () => number | undefined {
  let last: { readonly figures: CpuFigures; readonly at: number } | undefined
  return () => {
    const figures = ownCpuFigures(launcherName)
    const before = last
    const at = clock.monotonic()
    last = figures && { figures, at }
    if (figures === undefined || before === undefined) return undefined
    const span = { before: before.figures, after: figures, elapsedMs: at - before.at }
    return foreignLoad({ ...span, cpus: availableParallelism() })
  }
}
