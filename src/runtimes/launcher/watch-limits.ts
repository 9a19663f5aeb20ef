import type { LaunchExit, LaunchLimits } from './launcher.ts'
import type { ProcessTree } from './process-tree.ts'

const FIRST_LOOK_MS = 20
const MOST_MS = 250

interface Watched {
  readonly tree: ProcessTree
  readonly pause: (ms: number) => Promise<void>
  readonly isOver: () => boolean
}

/**
 * Samples the usage of a process tree, less often the longer it runs, and reports when a limit is exceeded. The kernel
 * has no limit for the processor time of several processes together, and limits memory only with control groups.
 * Without control groups sampling is also the only source of usage.
 */
export async function watchLimits(
  limits: LaunchLimits,
  { tree, pause, isOver }: Watched,
  exceeded: (limit: NonNullable<LaunchExit['over']>) => void,
): Promise<void> {
  const { cpuMs = Number.POSITIVE_INFINITY, memoryBytes = Number.POSITIVE_INFINITY } = limits
  const isNeeded = cpuMs < Number.POSITIVE_INFINITY || tree.needsLooks
  for (let wait = FIRST_LOOK_MS; isNeeded; wait = Math.min(wait * 2, MOST_MS)) {
    await pause(Math.min(wait, Math.max(1, cpuMs)))
    if (isOver()) return
    const used = tree.look()
    if (used.cpuMs > cpuMs) exceeded('cpu')
    else if (used.memoryBytes > memoryBytes) exceeded('memory')
  }
}
