import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { describeWith, requireTool } from '../../src/testing/require.ts'
import { assertAllHits, buildTwice, summaryOf } from './bazel-twice.ts'
import { debianBazel } from './debian-bazel.ts'

test("Bazel's summary line gives the number of actions per category", () => {
  const summary = summaryOf('…\nINFO: 9 processes: 3 remote cache hit, 4 internal, 2 local.\nINFO: done\n')
  expect([...summary]).toEqual([
    ['remote cache hit', 3],
    ['internal', 4],
    ['local', 2],
  ])
})

describeWith('bazel', 'Bazel with the gRPC cache', () => {
  test('the second machine gets every action from the cache', { timeout: 600_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-bazel-'))
    try {
      await using server = await runWindlass(join(folder, 'server'))
      const bazel = debianBazel(requireTool('bazel').command ?? 'bazel', folder)
      assertAllHits(await buildTwice(bazel, `127.0.0.1:${server.port}`, folder))
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  })
})
