import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: './src/testing/leave-nothing.ts',
    // Whoever starts a worker wants it to work, and not to try two dozen languages first; tests of those say so.
    env: { WINDLASS_WORKER_LANGUAGES: ',' },
    // Limits for what hangs, not for what is slow: the tests must pass on a machine with a load of 20.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './src/testing/run-reporter.ts'],
  },
})
