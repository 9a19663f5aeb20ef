import { serveSpawner } from '../runtimes/spawner/serve-spawner.ts'

/** The small process beside a worker that starts its commands; its timers keep it alive until all it has to kill is dead. */
serveSpawner({
  clock: {
    after(ms, callback) {
      const timer = setTimeout(callback, ms)
      return () => clearTimeout(timer)
    },
  },
  send: (pid, signal) => void process.kill(pid, signal),
})
