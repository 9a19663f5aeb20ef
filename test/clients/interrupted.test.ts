/** A run of tests that is interrupted at any moment leaves no process behind. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** What runs with this mark in its environment, as command lines. */
function markedBy(mark: string): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      if (!readFileSync(`/proc/${Number(name)}/environ`, 'latin1').includes(`TEST_RUN_MARK=${mark}\0`)) return []
      return [readFileSync(`/proc/${Number(name)}/cmdline`, 'utf8').replaceAll('\0', ' ')]
    } catch {
      return []
    }
  })
}

/** What must be there before the run is interrupted, so that there is something to leave behind. */
interface Interrupted {
  readonly args: readonly string[]
  readonly signal: NodeJS.Signals
  readonly until: RegExp
}

async function interrupt({ args, signal, until }: Interrupted): Promise<void> {
  const mark = randomUUID()
  const env = { ...process.env, NEXT_TEST_RUN_MARK: mark, VITEST: undefined, VITEST_POOL_ID: undefined }
  const run = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'ignore' })
  onTestFinished(() => void run.kill('SIGKILL'))
  await vi.waitFor(() => expect(markedBy(mark).join('\n')).toMatch(until), 100_000)
  await sleep(Math.random() * 1000)
  const gone = once(run, 'exit')
  run.kill(signal)
  if (signal === 'SIGINT') setTimeout(() => run.kill('SIGKILL'), 20_000).unref() // vitest waits for its tests first
  await gone
  await vi.waitFor(() => expect(markedBy(mark)).toEqual([]), 60_000)
}

const VITEST = 'node_modules/vitest/vitest.mjs'
const SERVER = /main\.ts server/

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'the server of a test is gone after %s',
  { timeout: 240_000 },
  (signal) => interrupt({ args: [VITEST, 'run', 'test/abuse/many-connections.test.ts'], signal, until: SERVER }),
)

test('server, worker and spawner of the run with clients are gone after SIGTERM', { timeout: 240_000 }, () =>
  interrupt({ args: ['test/clients/run.ts', '--only', 'Bazel'], signal: 'SIGTERM', until: /spawner/ }),
)

describeWith('bazel', 'Bazel', () => {
  test('its server, a JVM apart from its client, is gone after SIGTERM', { timeout: 240_000 }, () =>
    interrupt({ args: [VITEST, 'run', 'test/clients/bazel.test.ts'], signal: 'SIGTERM', until: /java|bazel\(/ }),
  )
})
