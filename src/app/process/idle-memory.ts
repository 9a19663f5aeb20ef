import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from '../../base/clock.ts'
import { dropUnusedBuffers } from '../../grpc/lent-buffers.ts'

/** The measurements and the collection of a process; tests substitute them. */
export interface ProcessMemory {
  cpuUs(): number
  rssBytes(): number
  collect(): void
}

const CHECK_MS = 10_000
/** The CPU time of one check interval; a process that uses less is idle. */
const IDLE_CPU_US = 500_000
/** With fewer resident bytes than this, the process does not collect. */
const LARGE_BYTES = 200 * 1024 * 1024

/**
 * Collects garbage once after each busy time. V8 collects when the program allocates, so without this the buffers of
 * the last uploads stay in memory until the next uploads. The returned function stops the checks.
 */
export function collectWhenIdle(clock: Clock, memory: ProcessMemory): () => void {
  let before = memory.cpuUs()
  let isDue = false
  let cancel = clock.after(CHECK_MS, check)
  function check(): void {
    const isIdle = memory.cpuUs() - before < IDLE_CPU_US
    if (!isIdle) isDue = true
    else if (isDue && memory.rssBytes() > LARGE_BYTES) {
      isDue = false
      memory.collect()
    }
    before = memory.cpuUs()
    cancel = clock.after(CHECK_MS, check)
  }
  return () => cancel()
}

export const processMemory: ProcessMemory = {
  cpuUs() {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  rssBytes: () => process.memoryUsage.rss(),
  collect() {
    dropUnusedBuffers()
    // A context that is created with this flag has `gc`. A command-line flag would apply to every thread.
    setFlagsFromString('--expose-gc')
    runInNewContext('gc()')
    setFlagsFromString('--no-expose-gc')
  },
}
