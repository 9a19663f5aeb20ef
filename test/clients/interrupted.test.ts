/** A test run that is interrupted at any moment leaves no process behind. */
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
  /** The start time: tells a process from a later one with the same pid. */
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
      if (fields[0] === 'Z') return [] // a zombie, not yet reaped
      const command = read(pid, 'cmdline').replaceAll('\0', ' ')
      return [
        { pid, parent: Number(fields[1]), startedAt: `${fields[19]}`, command, environment: read(pid, 'environ') },
      ]
    } catch {
      return [] // not a process, or already exited
    }
  })
}

/** The processes of the run: its descendants, and orphans that carry its mark in their environment. */
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

/** `until` matches a process that must be running before the run is interrupted, so that one could be left behind. */
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
/** The server runs from the sources or, in a clone whose `npm install` has built it, from the bundle. */
const SERVER = /main\.[tj]s server/

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'the server of a test run has exited after %s',
  { timeout: 240_000 },
  (signal) => interrupt({ args: [VITEST, 'run', 'test/abuse/many-connections.test.ts'], signal, until: SERVER }),
)

test('the server, worker and spawner of the client run have exited after SIGTERM', () =>
  interrupt({ args: ['test/clients/run.ts', '--only', 'Bazel'], signal: 'SIGTERM', until: /spawner/ }))

describeWith('bazel', 'the Bazel server', () => {
  test('runs as a JVM apart from its client and has exited after SIGTERM', () =>
    interrupt({ args: [VITEST, 'run', 'test/clients/bazel.test.ts'], signal: 'SIGTERM', until: /\bbazel\(/ }))
})
