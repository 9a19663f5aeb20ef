import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Whoever starts a worker wants it to work, and not to try two dozen languages first; tests of those say so.
    env: { WINDLASS_WORKER_LANGUAGES: ',' },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', './src/testing/run-reporter.ts'],
  },
})
