import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processControlContract } from '../terminal/contract.ts'
import { limitsContract } from './limits/contract.ts'
import { emptyRoom, runOf, shell } from './rooms.fixture.ts'
import type { Run, RunEnd, Runtime } from './runtime.ts'

export interface RuntimeUnderTest {
  readonly runtime: Runtime
  close(): Promise<void>
}

const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

/** Dead, or a zombie that has not been reaped yet. */
export async function isGone(pid: number): Promise<boolean> {
  for (let i = 0; i < 100; i++) {
    if (!existsSync(`/proc/${pid}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return true
    await pause(20)
  }
  return false
}

/** A unique number of seconds to sleep: a process in a room has another pid there than here, but the same arguments. */
const sleepMark = (): string => `60.${randomBytes(6).readUIntBE(0, 6)}`

/** Whether, after a short wait, no process has these arguments. */
async function nobodyRuns(words: string): Promise<boolean> {
  const runs = (): boolean => readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && argumentsOf(pid).includes(words))
  for (let i = 0; i < 100 && runs(); i++) await pause(20)
  return !runs()
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** The tests that every runtime must pass. Their commands need only a POSIX shell and its usual tools. */
export function runtimeContract(name: string, make: () => Promise<RuntimeUnderTest>): void {
  describe(name, () => {
    let made: RuntimeUnderTest
    beforeAll(async () => {
      made = await make()
    })
    afterAll(() => made.close())
    const go = (run: Run, signal: AbortSignal = never): Promise<RunEnd> => made.runtime.run(run, signal)

    test('the probe reports that the runtime works, with its limits', async () => {
      const probe = await made.runtime.probe()
      expect(probe).toMatchObject({ works: true, limits: { wallMs: 'all', outputBytes: 'all' } })
    })

    test('a command that exits with 0 is ok, with its output', async () => {
      using room = emptyRoom()
      const end = await go(runOf(shell('echo out; echo err >&2'), { room }))
      expect(end).toMatchObject({ cause: 'ok', exitCode: 0, signal: undefined, reason: undefined })
      expect([text(end.stdout.bytes), text(end.stderr.bytes)]).toEqual(['out\n', 'err\n'])
      expect(end.usage.wallMs).toBeGreaterThan(0)
    })

    test.each([1, 2, 77, 255])('exit code %i is a result', async (code) => {
      using room = emptyRoom()
      expect(await go(runOf(shell(`exit ${code}`), { room }))).toMatchObject({ cause: 'exit', exitCode: code })
    })

    test.each([
      ['SEGV', 139],
      ['TERM', 143],
      ['KILL', 137],
    ] as const)('a command killed by SIG%s ends with the cause signal', async (signal, exitCode) => {
      using room = emptyRoom()
      const end = await go(runOf(shell(`kill -${signal} $$`), { room }))
      expect(end).toMatchObject({ cause: 'signal', exitCode, signal: `SIG${signal}` })
      expect(end.reason).toContain(`SIG${signal}`)
    })

    test('a command runs in its working directory, and its files stay there', async () => {
      using room = emptyRoom()
      mkdirSync(join(room.path, 'a/b'), { recursive: true, mode: 0o777 })
      chmodSync(join(room.path, 'a/b'), 0o777)
      writeFileSync(join(room.path, 'in.txt'), 'hello')
      const end = await go(
        runOf(shell('cat ../../in.txt > out.txt; ls'), { room, command: { workingDirectory: 'a/b' } }),
      )
      expect(text(end.stdout.bytes)).toBe('out.txt\n')
      expect(readFileSync(join(room.path, 'a/b/out.txt'), 'utf8')).toBe('hello')
    })

    test('a working directory that is missing, is a file, or leads out of the room is invalid', async () => {
      using room = emptyRoom()
      writeFileSync(join(room.path, 'file'), '')
      symlinkSync('/', join(room.path, 'out'))
      for (const workingDirectory of ['nowhere', 'file', 'out', '/tmp', '..', 'a/../..', '\0'])
        await expect(
          go(runOf(['true'], { room, command: { workingDirectory } })),
          workingDirectory,
        ).rejects.toMatchObject({
          fault: { kind: 'invalid' },
        })
    })

    test('a command sees its declared environment', async () => {
      using room = emptyRoom()
      const odd = 'line one\nline two\t"quotes" \'more\' $HOME `id` \u{1f600} =x='
      const env = [
        { name: 'PATH', value: '/usr/bin:/bin' },
        { name: 'ODD', value: odd },
        { name: 'EMPTY', value: '' },
        { name: 'with.dots-and-dashes', value: '1' },
        { name: '__proto__', value: 'p' },
        { name: '--chdir', value: '/' },
        { name: 'ODD2', value: 'first' },
        { name: 'ODD2', value: 'last' },
      ]
      const end = await go(runOf(['env', '-0'], { room, command: { env } }))
      const seen = new Map(
        text(end.stdout.bytes)
          .split('\0')
          .map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]),
      )
      expect([seen.get('ODD'), seen.get('EMPTY'), seen.get('with.dots-and-dashes'), seen.get('ODD2')]).toEqual([
        odd,
        '',
        '1',
        'last',
      ])
      expect([seen.get('__proto__'), seen.get('--chdir')]).toEqual(['p', '/'])
      expect(seen.has('VITEST')).toBe(false)
    })

    test('arguments arrive unchanged', async () => {
      using room = emptyRoom()
      const argv = [
        '',
        ' ',
        'a\nb',
        '"',
        "'",
        '$(id)',
        '*',
        '-n',
        '--',
        '\u{1f600}\u00ff',
        '\x01\x7f',
        'x'.repeat(100_000),
      ]
      const end = await go(runOf(['printf', '%s\\0', ...argv], { room }))
      expect(text(end.stdout.bytes).split('\0').slice(0, -1)).toEqual(argv)
    })

    test.each([
      ['an argument with a NUL', { argv: ['echo', 'a\0b'] }],
      ['half a character', { argv: ['echo', '\ud800'] }],
      ['no argument at all', { argv: [] }],
      ['an empty program', { argv: [''] }],
      ['a variable without a name', { argv: ['env'], env: [{ name: '', value: 'x' }] }],
      ['a name with an equals sign', { argv: ['env'], env: [{ name: 'A=B', value: 'x' }] }],
      ['a value with a NUL', { argv: ['env'], env: [{ name: 'A', value: '\0' }] }],
    ])('%s is invalid', async (_, command) => {
      using room = emptyRoom()
      await expect(go(runOf(command.argv, { room, command }))).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    })

    test('binary output arrives unchanged', async () => {
      using room = emptyRoom()
      const bytes = randomBytes(100_000)
      writeFileSync(join(room.path, 'bytes'), bytes)
      const end = await go(runOf(['cat', 'bytes'], { room }))
      expect(Buffer.compare(Buffer.from(end.stdout.bytes), bytes)).toBe(0)
    })

    test('output is passed on while the command runs', async () => {
      using room = emptyRoom()
      const heard = Promise.withResolvers<void>()
      const lines: string[] = []
      async function* stdin(): AsyncGenerator<Uint8Array> {
        await heard.promise // would block forever if output arrived only at the end
        yield Buffer.from('go on\n')
      }
      const stdout = (bytes: Uint8Array): void => {
        lines.push(text(bytes))
        heard.resolve()
      }
      const end = await go(
        runOf(shell('echo first; read line; echo "then $line"'), { room, hooks: { stdin: stdin(), stdout } }),
      )
      expect(lines.join('')).toBe('first\nthen go on\n')
      expect(text(end.stdout.bytes)).toBe(lines.join(''))
    })

    test('1 MiB of input can be read completely, and unread input is no error', async () => {
      using room = emptyRoom()
      async function* stdin(): AsyncGenerator<Uint8Array> {
        for (let i = 0; i < 16; i++) yield randomBytes(65_536)
      }
      const end = await go(runOf(['wc', '-c'], { room, hooks: { stdin: stdin() } }))
      expect(text(end.stdout.bytes).trim()).toBe('1048576')
      const deaf = await go(runOf(['true'], { room: { ...room, name: `${room.name}-b` }, hooks: { stdin: stdin() } }))
      expect(deaf.cause).toBe('ok')
    })

    test('without input, stdin is empty', async () => {
      using room = emptyRoom()
      expect(text((await go(runOf(['cat'], { room }))).stdout.bytes)).toBe('')
    })

    test('/dev/stdout and /dev/stderr can be opened by name', async () => {
      using room = emptyRoom()
      const end = await go(runOf(shell('echo a > /dev/stdout; echo b > /dev/stderr'), { room }))
      expect([text(end.stdout.bytes), text(end.stderr.bytes), end.exitCode]).toEqual(['a\n', 'b\n', 0])
    })

    test('of 100 MB of output under a limit of 1 MB, the beginning and the end are kept, without blocking the command', async () => {
      using room = emptyRoom()
      const limits = { outputBytes: 1_000_000, wallMs: 60_000 }
      const script = 'echo begin; head -c 100000000 /dev/zero | tr "\\0" x; echo end; echo done >&2'
      let live = 0
      const stdout = (bytes: Uint8Array): void => {
        live += bytes.length
      }
      const end = await go(runOf(shell(script), { room, limits, hooks: { stdout } }))
      expect(end.cause).toBe('ok')
      const { bytes, droppedBytes, droppedAt } = end.stdout
      expect(bytes.length).toBe(1_000_000)
      expect(droppedBytes).toBe(100_000_010 - 1_000_000)
      expect(text(bytes.subarray(0, 6))).toBe('begin\n')
      expect(text(bytes.subarray(-5))).toBe('xend\n')
      expect(droppedAt).toBeLessThan(bytes.length)
      expect(text(end.stderr.bytes)).toBe('done\n')
      expect(live).toBeLessThan(1_100_000)
    })

    test('output of exactly the limit is kept whole', async () => {
      using room = emptyRoom()
      const end = await go(runOf(shell('printf 0123456789'), { room, limits: { outputBytes: 10 } }))
      expect([text(end.stdout.bytes), end.stdout.droppedBytes]).toEqual(['0123456789', 0])
    })

    test('a command that exceeds wallMs is killed, and its output so far is kept', async () => {
      using room = emptyRoom()
      const script = 'echo before; while :; do echo more; done'
      // The limit counts from the start of the room, which on a busy machine may take longer than a short limit.
      for (let wallMs = 300; ; wallMs *= 4) {
        const end = await go(runOf(shell(script), { room, limits: { wallMs, outputBytes: 5000 } }))
        expect(end).toMatchObject({ cause: 'timeout', signal: 'SIGKILL' })
        expect(end.usage.wallMs).toBeGreaterThanOrEqual(wallMs - 1)
        if (end.stdout.bytes.length < 5000 && wallMs < 60_000) continue
        expect(text(end.stdout.bytes.subarray(0, 7))).toBe('before\n')
        expect(end.stdout.bytes.length).toBe(5000)
        return
      }
    })

    test('a command that ignores signals is killed at its wall time limit', async () => {
      using room = emptyRoom()
      const end = await go(
        runOf(shell('trap "" TERM INT HUP; while :; do sleep 1; done'), { room, limits: { wallMs: 200 } }),
      )
      expect(end.cause).toBe('timeout')
    })

    test('a command cancelled before its start is never started', async () => {
      using room = emptyRoom()
      const end = await go(runOf(shell('touch started'), { room }), AbortSignal.abort())
      expect(end.cause).toBe('cancelled')
      expect(existsSync(join(room.path, 'started'))).toBe(false)
    })

    test('a command cancelled while it runs ends with all processes that it started', async () => {
      using room = emptyRoom()
      const abort = new AbortController()
      const mark = sleepMark()
      const script = `sleep ${mark} & echo 1; (setsid sleep ${mark} & echo 2); wait`
      let heard = ''
      const stdout = (bytes: Uint8Array): void => {
        heard += text(bytes)
        if (heard.split('\n').length > 2) abort.abort()
      }
      const end = await go(runOf(shell(script), { room, hooks: { stdout } }), abort.signal)
      expect(end.cause).toBe('cancelled')
      expect(await nobodyRuns(mark)).toBe(true)
    })

    test('processes left behind by an ended command are killed, and do not delay its end', async () => {
      using room = emptyRoom()
      const mark = sleepMark()
      const script = `sleep ${mark} & echo 1; (setsid sleep ${mark} & echo 2); (env -i sleep ${mark} & echo 3)`
      const end = await go(runOf(shell(script), { room, limits: { wallMs: 20_000 } }))
      expect(end.cause).toBe('ok')
      expect(text(end.stdout.bytes).trim().split('\n')).toHaveLength(3)
      expect(await nobodyRuns(mark)).toBe(true)
    })

    test('a missing program ends as not-started with exit code 127 and its name in stderr', async () => {
      using room = emptyRoom()
      const end = await go(runOf(['no-such-program', 'x'], { room }))
      expect(end).toMatchObject({ cause: 'not-started', exitCode: 127 })
      expect(end.reason).toContain('no-such-program')
      expect(text(end.stderr.bytes)).toContain('no-such-program')
    })

    test('a file that is not executable ends as not-started with exit code 126', async () => {
      using room = emptyRoom()
      writeFileSync(join(room.path, 'plain'), 'x', { mode: 0o644 })
      expect(await go(runOf(['./plain'], { room }))).toMatchObject({ cause: 'not-started', exitCode: 126 })
      const again = { ...room, name: `${room.name}-b` }
      expect(await go(runOf(['./'], { room: again }))).toMatchObject({ cause: 'not-started', exitCode: 126 })
    })

    test("arguments above the kernel's limit end as not-started with exit code 126 (E2BIG)", async () => {
      using room = emptyRoom()
      const end = await go(runOf(['echo', 'x'.repeat(3_000_000)], { room }))
      expect(end).toMatchObject({ cause: 'not-started', exitCode: 126 })
      expect(end.reason).toContain('E2BIG')
    })

    test('a program name with a slash is relative to the working directory', async () => {
      using room = emptyRoom()
      mkdirSync(join(room.path, 'sub'), { mode: 0o777 })
      writeFileSync(join(room.path, 'tool'), '#!/bin/sh\necho "tool in $(basename "$PWD")"\n', { mode: 0o755 })
      const end = await go(runOf(['../tool'], { room, command: { workingDirectory: 'sub' } }))
      expect(text(end.stdout.bytes)).toBe('tool in sub\n')
    })

    limitsContract(() => made.runtime)
    processControlContract(() => made.runtime)

    test('the outputs and exit codes of twenty concurrent commands do not mix', async () => {
      using room = emptyRoom()
      const runs = Array.from({ length: 20 }, (_, i) =>
        go(
          runOf(shell(`for i in 1 2 3; do echo ${i}; done; exit ${i}`), {
            room: { ...room, name: `${room.name}-${i}` },
          }),
        ),
      )
      for (const [i, end] of (await Promise.all(runs)).entries()) {
        expect(end.exitCode).toBe(i)
        expect(text(end.stdout.bytes)).toBe(`${i}\n`.repeat(3))
      }
    })
  })
}
