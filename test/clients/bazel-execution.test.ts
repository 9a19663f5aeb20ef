import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { describeWith, requireTool } from '../../src/testing/require.ts'
import { type Fleet, openFleet } from '../faults/fleet.ts'
import { assertFirst, executeLarge, runRemotely } from './bazel-executes.ts'
import { debianBazel } from './debian-bazel.ts'
import { writeLargeWorkspace } from './large-workspace.ts'

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bazel-execution-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

const bazelIn = (folder: string) => debianBazel(requireTool('bazel').command ?? 'bazel', folder)

/** Resolves when this server process has finished this many actions, or when the build is over. */
async function finished(fleet: Fleet, count: number, isOver: () => boolean): Promise<void> {
  while (!isOver() && (await fleet.counted('windlass_tasks_finished_total')) < count) await sleep(50)
}

describeWith('bazel', 'Bazel with remote execution', () => {
  test('a large build runs on the worker only, and a second machine gets everything from the cache', {
    timeout: 600_000,
  }, async () => {
    const folder = ownFolder()
    const running = await runWindlass(join(folder, 'grid'), 'up')
    try {
      const server = `127.0.0.1:${running.port}`
      const seen = await executeLarge({ bazel: bazelIn(folder), server, folder, word: randomUUID() })
      expect(seen).toContain('then all from the cache')
    } finally {
      await running.server.stop()
    }
  })

  test('a build succeeds although a worker and then the server are killed', { timeout: 600_000 }, async () => {
    const folder = ownFolder()
    const bazel = bazelIn(folder)
    const place = { folder: join(folder, 'workspace'), memory: join(folder, 'memory') }
    writeLargeWorkspace({ ...bazel.workspace, ...place, word: randomUUID() })
    await using fleet = await openFleet({ folder: join(folder, 'fleet'), workers: 2, slots: 2 })
    const args = ['test', '--jobs=50', '--remote_retries=10', '//...']
    const build = runRemotely({ bazel, server: fleet.address, folder, machine: 'only', args })
    let isOver = false
    void build.finally(() => {
      isOver = true
    })
    await finished(fleet, 40, () => isOver)
    await fleet.workers[0]?.kill()
    await finished(fleet, 80, () => isOver)
    await fleet.server.kill()
    await fleet.server.start()
    const ended = await build
    expect(assertFirst(ended, 'FLAKY')).toBeGreaterThan(200)
    // Had the server died after the build, it would have finished fewer tasks since its restart.
    expect(await fleet.counted('windlass_tasks_finished_total')).toBeGreaterThan(40)
  })
})
