/**
 * Time that a neighbour cannot spoil. CPU time would be the natural measure, but some kernels count it in steps of
 * 4 ms; so short work is timed by the clock, and told whether the processor was taken away meanwhile.
 */
export interface Lap {
  readonly ms: number
  /** Another process ran in between: the time says nothing. */
  readonly disturbed: boolean
}

export function timed(work: () => void): Lap {
  const before = switches()
  const start = performance.now()
  work()
  const ms = performance.now() - start
  return { ms, disturbed: switches() !== before }
}

/** The voluntary ones too: a thread that never waits does so when the collector's threads get no turn. */
function switches(): number {
  const { involuntaryContextSwitches, voluntaryContextSwitches } = process.resourceUsage()
  return involuntaryContextSwitches + voluntaryContextSwitches
}

/** CPU time of this thread, in milliseconds, for work that takes hundreds of them. */
export function cpuTimed(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e3
}
