import { afterAll, expect, test } from 'vitest'
import type { CommandResult, CommandTask } from '../../model/command-task.ts'
import { eventually } from '../../testing/eventually.ts'
import { readyBench, stepOf } from './ready-rooms.fixture.ts'

const bench = await readyBench()
afterAll(() => bench[Symbol.asyncDispose]())

/** All that a client can see, without times and resource usage. Environment variables have no order. */
const seen = ({ stages, outputs }: CommandResult) => ({
  outputs,
  stages: stages.map(({ usage: _, stdout, stderr, ...rest }) => ({
    ...rest,
    stdout: Buffer.from(stdout.inline ?? [])
      .toString()
      .split('\n')
      .sort(),
    stderr: Buffer.from(stderr.inline ?? []).toString(),
  })),
})

const redirect = (words: string, count: number): string => `exec ${words}; shift ${count}; exec "$@"`
const SORTED_ENV = ['/bin/sh', '-c', 'env | sort']

const SAME: Readonly<Record<string, CommandTask>> = {
  'its environment': stepOf({ argv: ['env'], env: [{ name: 'WORD', value: "it's $HOME\n`x`" }] }),
  'a shell, and all variables': stepOf({ argv: SORTED_ENV, env: [{ name: 'HOME', value: '/room/out' }] }),
  'a path of its own': stepOf({ argv: ['env'], env: [{ name: 'PATH', value: '/opt/none:/usr/bin' }] }),
  'a name that only a sandbox can give': stepOf({ argv: ['env'], env: [{ name: 'a.b', value: '1' }] }),
  'where it is': stepOf({ argv: ['pwd', '-P'] }),
  'where it is, in the root': stepOf({ argv: ['pwd', '-P'] }, { workingDirectory: '' }),
  'what it reads': stepOf({ argv: ['cat'] }),
  'what is open': stepOf({ argv: ['/bin/sh', '-c', 'ls /proc/self/fd | wc -l; readlink /proc/self/fd/0'] }),
  'what it may do': stepOf({ argv: ['/bin/sh', '-c', 'grep -E "^(Cap|NoNew|Seccomp:|Sig)" /proc/self/status; id'] }),
  'an exit code': stepOf({ argv: ['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'] }),
  'a signal': stepOf({ argv: ['/bin/sh', '-c', 'kill -9 $$'] }),
  'words of every kind': stepOf({ argv: ['printf', '%s|', "a'b", '$HOME', '`id`', 'two\nlines', '', '-n', '\\', '}'] }),
  'no such program': stepOf({ argv: ['no-such-program'] }),
  'no such file': stepOf({ argv: ['/usr/bin/no-such-program'] }),
  'a program that is none': stepOf({ argv: ['/etc/passwd'] }),
  'a program of the room that is not there': stepOf({ argv: ['./tool'] }),
  'a file for its output': stepOf({ argv: ['/bin/sh', '-c', redirect('>"$1"', 1), 'sh', 'o u t', 'echo', "it's"] }),
  'files for all': stepOf({
    argv: ['/bin/sh', '-c', redirect('<"$1" >"$2" 2>"$3"', 3), 'sh', '/etc/hostname', 'o', 'e', 'cat', '-', 'none'],
  }),
  'one file for two streams': stepOf({
    argv: ['/bin/sh', '-c', redirect('>"$1" 2>&1', 1), 'sh', 'both', 'cat', '/etc/hostname', 'none'],
  }),
  'a file that cannot be made': stepOf({ argv: ['/bin/sh', '-c', redirect('>"$1"', 1), 'sh', 'no/way', 'echo', 'x'] }),
  'a limit': stepOf({ argv: ['/bin/sh', '-c', 'ulimit -n'], limits: { openFiles: 100 } }),
  'time that is up': stepOf({ argv: ['sleep', '60'], limits: { wallMs: 300 } }),
}

/** Tasks that do not take a prepared room: its shell could not start them. */
const COLD: ReadonlySet<string> = new Set([
  'a limit',
  'a program that is none',
  'a program of the room that is not there',
])

for (const [name, task] of Object.entries(SAME))
  test.runIf(bench.works)(`a task in a prepared room ends and prints as in a new room: ${name}`, async () => {
    const pool = bench.ready(1)
    try {
      await bench.through(pool, stepOf({}))
      await eventually(() => expect(pool.waiting).toBe(1)) // it has prepared one for the next task
      const { result, wasWaiting } = await bench.through(pool, task)
      expect(seen(result)).toEqual(seen(await bench.cold(task)))
      expect(wasWaiting).toBe(!COLD.has(name))
    } finally {
      await pool.close()
    }
  })

test.runIf(bench.works)('no prepared room is used twice, and none is left', async () => {
  const pool = bench.ready(2)
  const task = stepOf({ argv: ['/bin/sh', '-c', 'ls -A /room /room/out /tmp; touch /tmp/trace /room/trace trace'] })
  const results = await Promise.all(Array.from({ length: 8 }, () => bench.through(pool, task)))
  const printed = new Set(results.map(({ result }) => seen(result).stages[0]?.stdout.join('|')))
  expect([...printed]).toEqual(['|||/room/out:|/room:|/tmp:|out'])
  await pool.close()
  expect(pool.waiting).toBe(0)
  expect(await bench.roomsLeft()).toEqual([])
})

test.runIf(bench.works)('a worker with a running task prepares no rooms', async () => {
  const pool = bench.ready(2)
  const long = bench.through(pool, stepOf({ argv: ['sleep', '1'] }))
  for (let i = 0; i < 3; i++) expect((await bench.through(pool, stepOf({}))).wasWaiting).toBe(false)
  expect(pool.waiting).toBe(0)
  await long
  await eventually(() => expect(pool.waiting).toBe(2))
  await pool.close()
  expect(await bench.roomsLeft()).toEqual([])
})

test.runIf(bench.works)('a task cancelled after 0 to 100 ms leaves no room', async () => {
  const pool = bench.ready(1)
  const sleeping = stepOf({ argv: ['sleep', '60'] })
  for (const ms of [0, 5, 20, 100]) {
    const cancel = AbortSignal.timeout(ms)
    await expect(bench.through(pool, sleeping, cancel)).rejects.toThrow()
  }
  await pool.close()
  expect(await bench.roomsLeft()).toEqual([])
})
