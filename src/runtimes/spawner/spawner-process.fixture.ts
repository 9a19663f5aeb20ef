/** A spawner process for tests and benches; `app/` wires the real one. */
import { serveSpawner } from './serve-spawner.ts'

serveSpawner({
  clock: {
    // biome-ignore lint/plugin: this file is the wiring of a process of its own
    monotonic: () => performance.now(),
    after(ms, callback) {
      // biome-ignore lint/style/noRestrictedGlobals: this file is the wiring of a process of its own
      const timer = setTimeout(callback, ms)
      return () => clearTimeout(timer)
    },
  },
  // biome-ignore lint/style/noRestrictedGlobals: this file is the wiring of a process of its own
  send: (pid, signal) => void process.kill(pid, signal),
  // biome-ignore lint/style/noRestrictedGlobals: this file is the wiring of a process of its own
  exit: () => process.exit(),
})
