import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { describeWith, requireTool } from '../../src/testing/require.ts'
import { assertAllHits, type Bazel, buildTwice } from './bazel-twice.ts'
import { debianBazel } from './debian-bazel.ts'

/** The same Bazel with another cache address. */
const withCache = (bazel: Bazel, url: string): Bazel => ({
  ...bazel,
  start: (args) => bazel.start(args.map((arg) => arg.replace(/^--remote_cache=.*/, `--remote_cache=${url}`))),
})

describeWith('bazel', 'Bazel with the HTTP cache', () => {
  test.each([
    ['without an instance', ''],
    ['for an instance', '/team/linux'],
  ])('the second machine gets every action from the cache, %s', { timeout: 600_000 }, async (_, path) => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-bazel-http-'))
    try {
      await using running = await runWindlass(join(folder, 'server'))
      const { http } = JSON.parse(await running.server.firstLine()) as { http: string }
      const bazel = debianBazel(requireTool('bazel').command ?? 'bazel', folder)
      assertAllHits(await buildTwice(withCache(bazel, `http://${http}${path}`), 'not asked', folder))
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  })

  test('actions built over gRPC are cache hits over HTTP, and vice versa', { timeout: 600_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-bazel-both-'))
    try {
      await using running = await runWindlass(join(folder, 'server'))
      const { http } = JSON.parse(await running.server.firstLine()) as { http: string }
      const plain = debianBazel(requireTool('bazel').command ?? 'bazel', folder)
      const [overGrpc, overHttp] = [`grpc://127.0.0.1:${running.port}`, `http://${http}`]
      for (const order of [
        [overGrpc, overHttp],
        [overHttp, overGrpc],
      ]) {
        const caches = order.values()
        const bazel = {
          ...plain,
          start: (args: readonly string[]) => withCache(plain, caches.next().value ?? '').start(args),
        }
        const build = mkdtempSync(join(folder, 'build-'))
        assertAllHits(await buildTwice(bazel, 'not asked', build))
      }
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  })
})
