/** A run of tests that is interrupted at any moment leaves no process behind. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import { describeWith } from '../../src/testing/require.ts'

const ROOT = resolve(import.meta.dirname, '../..')

interface Process {
  readonly pid: number
  readonly parent: number
  /** When it began: a number that is taken again belongs to another process. */
  readonly startedAt: string
  readonly command: string
  readonly environment: string
}

const read = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8')

function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const pid = Number(name)
      const fields = read(pid, 'stat')
        .replace(/^.*\) /s, '')
        .split(' ')
      if (fields[0] === 'Z') return [] // over, and not yet reaped
      const command = read(pid, 'cmdline').replaceAll('\0', ' ')
      return [
        { pid, parent: Number(fields[1]), startedAt: `${fields[19]}`, command, environment: read(pid, 'environ') },
      ]
    } catch {
      return [] // no process, or gone
    }
  })
}

/** What the run started: its descendants, and what carries its mark though it has left its parent. */
function startedBy(run: number, mark: string): Process[] {
  const all = processes()
  const found = new Set([run])
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const { pid, parent, environment } of all)
      if (found.has(parent) || environment.includes(`TEST_RUN_MARK=${mark}\0`)) found.add(pid)
  }
  return all.filter(({ pid, command }) => found.has(pid) && pid !== run && !command.includes('sweep-marked'))
}

const isSame = (one: Process, other: Process): boolean => one.pid === other.pid && one.startedAt === other.startedAt

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
  const now = () => startedBy(run.pid ?? 0, mark)
  const isThere = () =>
    expect(
      now()
        .map(({ command }) => command)
        .join('\n'),
    ).toMatch(until)
  await eventually(isThere)
  await sleep(Math.random() * 1000)
  const started = now()
  const gone = once(run, 'exit')
  run.kill(signal)
  if (signal === 'SIGINT') setTimeout(() => run.kill('SIGKILL'), 20_000).unref() // vitest waits for its tests first
  await gone
  const left = () => processes().filter((each) => started.some((one) => isSame(one, each)))
  await eventually(() => expect([...left(), ...now()].map(({ command }) => command)).toEqual([]))
}

const VITEST = 'node_modules/vitest/vitest.mjs'
const SERVER = /main\.ts server/

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'the server of a test is gone after %s',
  { timeout: 240_000 },
  (signal) => interrupt({ args: [VITEST, 'run', 'test/abuse/many-connections.test.ts'], signal, until: SERVER }),
)

test('server, worker and spawner of the run with clients are gone after SIGTERM', () =>
  interrupt({ args: ['test/clients/run.ts', '--only', 'Bazel'], signal: 'SIGTERM', until: /spawner/ }))

describeWith('bazel', 'Bazel', () => {
  test('its server, a JVM apart from its client, is gone after SIGTERM', () =>
    interrupt({ args: [VITEST, 'run', 'test/clients/bazel.test.ts'], signal: 'SIGTERM', until: /\bbazel\(/ }))
})
