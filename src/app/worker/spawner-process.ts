import { serveSpawner } from '../../runtimes/spawner/serve-spawner.ts'
import { lastingClock } from '../process/clock.ts'

/** The small process beside a worker that starts its commands; its timers keep it alive until all it has to kill is dead. */
serveSpawner({
  clock: lastingClock,
  send: (pid, signal) => void process.kill(pid, signal),
  exit: () => process.exit(),
})
