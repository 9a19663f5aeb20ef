import { defineConfig } from 'vitest/config'
import { unitTests } from './src/testing/unit/unit-tests.ts'

/** `npm run test:unit` is `vitest run --mode unit`: the tests that start no process, no thread and no server. */
const unit = () => ({
  include: unitTests(import.meta.dirname),
  setupFiles: './src/testing/unit/unit-guard.ts',
  isolate: false, // starting a process for each file would take half of the time
})

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: './src/testing/leave-nothing.ts',
    maxWorkers: '100%', // test files share nothing with each other, and many of them mostly wait
    // A worker tests two dozen languages when it starts; tests that need those set this variable themselves.
    env: { WINDLASS_WORKER_LANGUAGES: ',' },
    // Limits for hanging tests, not for slow ones: tests must pass on a machine with a load of 20.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './src/testing/run-reporter.ts'],
    ...(mode === 'unit' ? unit() : { include: ['src/**/*.test.ts', 'test/**/*.test.ts'] }),
  },
}))
