import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runningServer } from '../../testing/running-server.ts'
import { fresh, started, target, until, useGrid, windlass } from '../grid.fixture.ts'

useGrid({ EXECUTION_SCHEDULER_NO_WORKER_GRACE_SECONDS: '0.2' })

const sh = (script: string): string[] => ['--', '/bin/sh', '-c', script]

describe('output of a command', () => {
  test('stdout and stderr are printed separately, and nothing else', async () => {
    const seen = await windlass(['run', ...sh('echo out; echo err >&2')])
    expect(seen).toMatchObject({ code: 0, out: 'out\n', err: 'err\n' })
  })

  test('output is printed while the command runs, in order', async () => {
    const gate = fresh()
    const script = `echo one; sleep 0.2; echo two >&2; while [ ! -e ${gate} ]; do sleep 0.02; done; echo three`
    let before = ''
    const { all, code } = await windlass(['run', '--no-cache', ...sh(script)], {
      onShown(text) {
        before += text
        if (before === 'one\ntwo\n') writeFileSync(gate, '') // ends only because the output was shown live
      },
    })
    expect([code, all]).toEqual([0, 'one\ntwo\nthree\n'])
  })

  test('200,000 lines are printed completely and once', async () => {
    const { out } = await windlass(['run', '--no-cache', ...sh('seq 1 200000')])
    expect(out).toBe(Array.from({ length: 200_000 }, (_, i) => `${i + 1}\n`).join(''))
  })

  test('a second run prints the cached output, and a terminal gets a note', async () => {
    const argv = ['run', ...sh('date +%N')]
    const first = await windlass(argv)
    const again = await windlass(argv, { isTerminal: true })
    expect(again.out).toBe(first.out)
    expect(again.err).toContain('from the cache (--no-cache runs it)')
    expect((await windlass([...argv.slice(0, 1), '--no-cache', ...argv.slice(1)])).out).not.toBe(first.out)
  })
})

describe('exit code of windlass run', () => {
  test.each([0, 1, 2, 42, 255])('the exit code of the command is passed on: %i', async (code) => {
    expect(await windlass(['run', ...sh(`exit ${code}`)])).toMatchObject({ code, out: '', err: '' })
  })

  test('a command killed by SIGKILL gives 137, as in a shell', async () => {
    expect((await windlass(['run', ...sh('kill -9 $$')])).code).toBe(137)
  })

  test('--timeout gives 124, with the output so far', async () => {
    const { code, out, err } = await windlass(['run', '--timeout', '1s', ...sh('echo begun; sleep 60')])
    expect([code, out]).toEqual([124, 'begun\n'])
    expect(err).toContain('windlass: it took too long and was stopped')
    expect(err).toContain('windlass: --timeout gives it more time')
  })

  test('a task that fits no worker gives 125, with advice', async () => {
    const unknown = await windlass(['run', '--platform', 'colour=blue', '--', 'true'])
    expect(unknown.code).toBe(125)
    expect(unknown.err).toContain('no worker offers colour=blue')
    expect(unknown.err).toContain('windlass workers lists the workers')
    const other = await windlass(['run', '--platform', 'OSFamily=plan9', '--', 'true'])
    expect(other.code).toBe(125)
    expect(other.err).toMatch(/windlass: it was not run: .*OSFamily/)
  })

  test('no server at the address gives 125', async () => {
    const { code, err } = await windlass(['run', '--', 'true'], { at: 'grpc://127.0.0.1:1' })
    expect(code).toBe(125)
    expect(err).toContain('windlass: grpc://127.0.0.1:1: cannot connect to 127.0.0.1:1')
    expect(err).toContain('windlass: "windlass up" starts one with a worker\n')
  })

  test('a server without execution gives 125', async () => {
    const cache = await runningServer(fresh(), { CAPABILITIES_EXEC_ENABLED: 'false' })
    const { code, err } = await windlass(['run', '--', 'true'], { at: cache.target })
    await cache.stop()
    expect(code).toBe(125)
    expect(err).toContain('the server does not offer this')
  })

  test('a task cancelled by another client gives 125', async () => {
    let isAsked = false
    const { code, err } = await windlass(['run', '--no-cache', ...sh('echo begun; sleep 60')], {
      onShown(text) {
        if (!text.includes('begun') || isAsked) return
        isAsked = true
        void windlass(['tasks', '--json']).then(({ out }) =>
          windlass(['task', JSON.parse(out).tasks[0].task, '--cancel']),
        )
      },
    })
    expect(code).toBe(125)
    expect(err).toContain('windlass: it was cancelled: ')
  })
})

describe('arguments of windlass run', () => {
  test('platform, environment and arguments reach the command unchanged', async () => {
    const argv = ['run', '--platform', 'OSFamily=Linux', '--env', 'A=1', '-e', 'A=b c=d', '-e', 'E=']
    const { out } = await windlass([...argv, '--', '/bin/sh', '-c', 'echo "$A|$E|$1|$2"', 'x', '--json', "it's"])
    expect(out).toBe("b c=d||--json|it's\n")
  })

  test('flags may follow the command, as in expbuild', async () => {
    const output = fresh()
    expect(await windlass(['run', 'echo', 'hello', '--output', output])).toMatchObject({ code: 0, out: 'hello\n' })
  })

  test.each([
    [['--env', 'A'], '--env: A is not name=value'],
    [['--platform', '=x'], '--platform: =x is not name=value'],
    [['--timeout', '5'], '--timeout: "5" is no time'],
    [['--timeout', '0s'], '--timeout: it needs some time to run'],
    [['--priority', 'high'], '--priority: high is not a whole number'],
    [['--priority', '9999999999'], '--priority: 9999999999 is not a whole number'],
    [['--output-path', 'a'], '--output-path: --output is needed too'],
    [['--output', 'x', '--output-path', '../a'], '--output-path: "../a" is ".."'],
    [['--server', 'ftp://x'], '--server: ftp://x is none of'],
  ])('%j gives exit code 2', async (flags, words) => {
    const { code, err } = await windlass(['run', ...flags, '--', 'true'], { at: '' })
    expect(code).toBe(2)
    expect(err).toContain(words)
  })
})

test('--json prints only the result', async () => {
  const output = fresh()
  const { code, out, err } = await windlass([
    ...['run', '--json', '--no-cache', '-o', output, '--output-path', 'made'],
    ...sh('echo out; echo err >&2; echo m > made; exit 4'),
  ])
  expect([code, err]).toEqual([4, ''])
  expect(JSON.parse(out)).toEqual({
    operation: expect.stringMatching(/^operations\/[\w-]+$/),
    action: expect.stringMatching(/^[0-9a-f]{64}\/\d+$/),
    end: 'result',
    message: '',
    cached: false,
    worker: 'w1',
    exitCode: 4,
    stdout: { text: 'out\n', digest: expect.stringMatching(/\/4$/) },
    stderr: { text: 'err\n', digest: expect.stringMatching(/\/4$/) },
    files: [{ path: 'made', digest: expect.stringMatching(/\/2$/), executable: false }],
    directories: [],
    symlinks: [],
    moved: { blobs: expect.any(Number), bytes: expect.any(Number) },
    held: { blobs: expect.any(Number), bytes: expect.any(Number) },
  })
  const late = await windlass(['run', '--json', '--timeout', '1s', '--', 'sleep', '30'])
  expect(late.code).toBe(124)
  expect(JSON.parse(late.out)).toMatchObject({ end: 'timeout', cached: false })
  const refused = await windlass(['run', '--json', '--platform', 'x=y', '--', 'true'])
  expect(refused.code).toBe(125)
  expect(JSON.parse(refused.out)).toMatchObject({ end: 'failed', operation: expect.any(String), exitCode: null })
})

test('the first Ctrl+C cancels the task, the second ends at once', async () => {
  const once = await windlass(['run', '--no-cache', ...sh('echo begun; sleep 60')], {
    onShown: (text, signals) => void (text === 'begun\n' && signals.emit('SIGINT', 'SIGINT')),
  })
  expect(once).toMatchObject({ code: 130, out: 'begun\n', exits: [] })
  expect(once.err).toMatch(/^windlass: cancelled operations/)
  const twice = await windlass(['run', '--no-cache', ...sh('echo begun; sleep 60')], {
    onShown(text, signals) {
      if (text !== 'begun\n') return
      signals.emit('SIGINT', 'SIGINT')
      signals.emit('SIGTERM', 'SIGTERM')
    },
  })
  expect(twice.exits).toEqual([143])
})

describe('windlass run as a process', () => {
  test('Ctrl+C cancels the task, with exit code 130', async () => {
    const mark = fresh()
    const { child, seen, gone } = started(
      'run',
      '-s',
      target(),
      '--no-cache',
      ...sh(`echo begun; sleep 60; touch ${mark}`),
    )
    await until(() => seen.out === 'begun\n')
    child.kill('SIGINT')
    expect(await gone).toBe(130)
    expect(seen.err).toMatch(/^windlass: cancelled operations\/[\w-]+\n$/)
    const id = seen.err.trim().split('/').at(-1) ?? ''
    await until(async () => JSON.parse((await windlass(['task', id, '--json'])).out).state === 'cancelled')
  })

  test('binary output is printed unchanged', async () => {
    const { child, gone } = started('run', '-s', target(), ...sh(String.raw`printf '\377\000\n\200'`))
    const pieces: Buffer[] = []
    child.stdout.removeAllListeners('data')
    child.stdout.setEncoding('latin1').on('data', (text: string) => pieces.push(Buffer.from(text, 'latin1')))
    expect(await gone).toBe(0)
    expect(Buffer.concat(pieces)).toEqual(Buffer.from([0xff, 0, 0x0a, 0x80]))
  })

  test('closing standard output cancels the task', async () => {
    // Slower than `yes`: when a command prints more than the live view keeps, the client shows nothing until its end.
    const printing = sh('while :; do echo y; sleep 0.05; done')
    const { child, seen, gone } = started('run', '-s', target(), '--no-cache', '--no-stdin', ...printing)
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await gone).toBe(141)
    expect(seen.err).toMatch(/^windlass: cancelled /)
  })

  test('help has examples and exit codes', async () => {
    const { seen, gone } = started('run', '--help')
    expect(await gone).toBe(0)
    for (const part of [
      'Usage: windlass run [options] <command...>',
      '124  it took longer',
      'windlass run -- echo hello',
    ])
      expect(seen.out).toContain(part)
  })
})
