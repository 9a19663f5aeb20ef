import { serveSpawner } from '../../runtimes/spawner/serve-spawner.ts'
import { lastingClock } from '../process/clock.ts'

/**
 * The main module of the spawner, the small process that starts a worker's commands; its timers keep it alive until all
 * processes that it must kill are dead.
 */
serveSpawner({
  clock: lastingClock,
  send: (pid, signal) => void process.kill(pid, signal),
  exit: () => process.exit(),
})
