import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { serveExpressions } from '../../workflow/expressions/expression-thread.ts'

/** The main module of a thread that runs JavaScript expressions. */
if (parentPort !== null) {
  const { isLong } = workerData as { readonly isLong: boolean }
  if (isLong) giveWay()
  serveExpressions(parentPort, () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  })
}

/**
 * On Linux each thread has its own nice value, by thread id (sched(7)). If setting it fails, the thread keeps normal
 * priority.
 */
function giveWay(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), 5)
  } catch {}
}
