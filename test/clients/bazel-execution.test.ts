import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { describeWith, requireTool } from '../../src/testing/require.ts'
import { type Bazel, buildTwice } from './bazel-twice.ts'
import { debianBazel } from './debian-bazel.ts'

const LOCAL = /^--(spawn|genrule)_strategy=local$/

/** The same Bazel, told to run everything elsewhere and nothing here. */
const executing = (bazel: Bazel, address: string): Bazel => ({
  ...bazel,
  start: (args) =>
    bazel.start(
      args.flatMap((arg) => {
        if (arg.startsWith('--remote_cache=')) {
          return [`--remote_executor=grpc://${address}`, '--remote_local_fallback=false', '--jobs=20']
        }
        return LOCAL.test(arg) ? [arg.replace('=local', '=remote')] : [arg]
      }),
    ),
})

describeWith('bazel', 'Bazel, with us to run its actions', () => {
  test('every action of a build runs on the worker, and the next machine takes all from the cache', {
    timeout: 600_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-bazel-execution-'))
    const running = await runWindlass(join(folder, 'grid'), 'up')
    try {
      const bazel = debianBazel(requireTool('bazel').command ?? 'bazel', folder)
      const { first, second } = await buildTwice(executing(bazel, `127.0.0.1:${running.port}`), 'not asked', folder)
      expect(first.get('remote')).toBeGreaterThan(5)
      expect([...first.keys()].sort()).toEqual(['internal', 'remote'])
      expect(second.get('remote cache hit')).toBe(first.get('remote'))
      expect([...second.keys()].sort()).toEqual(['internal', 'remote cache hit'])
    } finally {
      await running.server.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  })
})
