import { Server } from 'node:net'

/**
 * Loaded before each unit test: a unit test that starts a process, a thread or a server fails, so that the rule in
 * unit-tests.ts cannot be wrong without being noticed.
 */
export function guardUnitTest(): void {
  const { syncBuiltinESMExports } = process.getBuiltinModule('node:module')
  const refusal = (what: string) => () => {
    throw new Error(
      `a unit test may not call ${what}: src/testing/unit/unit-tests.ts selects unit tests by their imports`,
    )
  }
  const processes = process.getBuiltinModule('node:child_process')
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const)
    Object.assign(processes, { [name]: refusal(name) })
  const threads = process.getBuiltinModule('node:worker_threads')
  Object.assign(threads, {
    Worker: class {
      constructor() {
        refusal('new Worker')()
      }
    },
  })
  Object.assign(Server.prototype, { listen: refusal('listen') })
  syncBuiltinESMExports()
}

guardUnitTest()
