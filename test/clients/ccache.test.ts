import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { describeWith, requireTool } from '../../src/testing/require.ts'

/** Compiles with a ccache whose own cache is new, so that a hit can come from the server only. Returns its counters. */
function compile(source: string, url: string): Record<string, number> {
  const folder = mkdtempSync(join(source, 'ccache-'))
  const env = {
    PATH: process.env.PATH,
    CCACHE_DIR: folder,
    CCACHE_REMOTE_STORAGE: `${url}|layout=bazel`,
    CCACHE_REMOTE_ONLY: '1',
  }
  execFileSync(requireTool('ccache').command ?? 'ccache', ['gcc', '-c', 'hello.c', '-o', join(folder, 'hello.o')], {
    cwd: source,
    env,
  })
  const lines = execFileSync(requireTool('ccache').command ?? 'ccache', ['--print-stats'], { env, encoding: 'utf8' })
    .trim()
    .split('\n')
  return Object.fromEntries(lines.map((line) => line.split('\t')).map(([name, count]) => [name, Number(count)]))
}

describeWith(['ccache', 'gcc'], 'ccache with the server as remote storage', () => {
  test.each([
    ['without an instance', ''],
    ['for an instance', '/team/linux'],
  ])('the second machine gets the object file from the cache, %s', async (_, path) => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-ccache-'))
    try {
      await using running = await runWindlass(join(folder, 'server'))
      const { http } = JSON.parse(await running.server.firstLine()) as { http: string }
      const text = Array.from({ length: 30_000 }, (_, i) => `${(i * 2_654_435_761) % 4_294_967_296}u`).join()
      writeFileSync(join(folder, 'hello.c'), `unsigned numbers[] = {${text}};\n`)
      const first = compile(folder, `http://${http}${path}`)
      expect(first).toMatchObject({ cache_miss: 1, remote_storage_error: 0, remote_storage_write: 2 })
      const second = compile(folder, `http://${http}${path}`)
      expect(second).toMatchObject({ cache_miss: 0, direct_cache_hit: 1, remote_storage_error: 0 })
      expect(second.remote_storage_hit).toBe(1)
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  })
})
