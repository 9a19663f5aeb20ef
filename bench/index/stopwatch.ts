/**
 * Time measurements that detect interruptions by other processes. CPU time would be the natural measure, but some
 * kernels count it in steps of 4 ms. So short work is measured by the clock, with a flag for context switches.
 */
export interface Lap {
  readonly ms: number
  /** Another process ran in between: the time is meaningless. */
  readonly disturbed: boolean
}

export function timed(work: () => void): Lap {
  const before = switches()
  const start = performance.now()
  work()
  const ms = performance.now() - start
  return { ms, disturbed: switches() !== before }
}

/** Counts voluntary switches too: this thread waits when the threads of the garbage collector get no CPU. */
function switches(): number {
  const { involuntaryContextSwitches, voluntaryContextSwitches } = process.resourceUsage()
  return involuntaryContextSwitches + voluntaryContextSwitches
}

/** Returns the CPU time of this thread, in milliseconds, for work that takes hundreds of them. */
export function cpuTimed(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e3
}
