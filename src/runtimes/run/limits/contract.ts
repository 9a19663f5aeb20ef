import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { emptyRoom, realClock, runOf, shell } from '../rooms.fixture.ts'
import type { Run, RunEnd, Runtime, RuntimeProbe } from '../runtime.ts'

const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

/** The limits that every runtime must enforce, as far as its probe claims them. */
export function limitsContract(runtime: () => Runtime): void {
  const go = (run: Run): Promise<RunEnd> => runtime().run(run, never)

  /** Skips with the reason where this runtime does not claim the limit. */
  async function keeping(
    context: TestContext,
    keeps: (probe: RuntimeProbe & { works: true }) => boolean,
    what: string,
  ): Promise<void> {
    const probe = await runtime().probe()
    if (probe.works && keeps(probe)) return
    context.task.meta.skipReason = `${runtime().name} does not keep ${what} here`
    context.skip(context.task.meta.skipReason)
  }

  test('a file above fileBytes ends the command with the cause file-size', async () => {
    using room = emptyRoom()
    const end = await go(
      runOf(['dd', 'if=/dev/zero', 'of=big', 'bs=1000', 'count=100'], { room, limits: { fileBytes: 50_000 } }),
    )
    expect(end).toMatchObject({ cause: 'file-size', exitCode: 153 })
  })

  test('openFiles limits open files', async () => {
    using room = emptyRoom()
    const end = await go(runOf(shell('ulimit -n'), { room, limits: { openFiles: 33 } }))
    expect(text(end.stdout.bytes).trim()).toBe('33')
  })

  test('cpuMs limits the CPU time of all processes together', async () => {
    using room = emptyRoom()
    const burn = 'while :; do :; done'
    const end = await go(
      runOf(shell(`(${burn}) & (${burn}) & ${burn}`), { room, limits: { cpuMs: 400, wallMs: 20_000 } }),
    )
    expect(end.cause).toBe('cpu-time')
  })

  test('a command above memoryBytes ends with the cause out-of-memory', async () => {
    using room = emptyRoom()
    // awk doubles a text until the limit is exceeded.
    const argv = ['awk', 'BEGIN { s = "x"; while (length(s) < 2000000000) s = s s; print length(s) }']
    const end = await go(runOf(argv, { room, limits: { memoryBytes: 64 << 20, wallMs: 20_000 } }))
    expect(end).toMatchObject({ cause: 'out-of-memory' })
  })

  test('a memory limit too small for any process kills only its command', async () => {
    using room = emptyRoom()
    const started = Promise.withResolvers<void>()
    const hooks = { started: started.resolve }
    const other = go(runOf(shell('sleep 1; echo still here'), { room, hooks }))
    await started.promise
    const grow = ['awk', 'BEGIN { s = "x"; while (length(s) < 2000000000) s = s s }']
    const small = { ...room, name: `${room.name}-b` }
    const end = await go(runOf(grow, { room: small, limits: { memoryBytes: 1, wallMs: 20_000 } }))
    expect(end).toMatchObject({ cause: 'out-of-memory' })
    expect(text((await other).stdout.bytes)).toBe('still here\n')
  })

  test('pids limits the number of processes', async (context) => {
    await keeping(context, ({ limits }) => limits.pids === 'all', 'the number of processes')
    using room = emptyRoom()
    const few = await go(runOf(shell('sleep 0.1 & sleep 0.1 & wait'), { room, limits: { pids: 8 } }))
    expect([few.cause, few.reason]).toEqual(['ok', undefined])
    const script = 'i=0; while [ $i -lt 30 ]; do sleep 5 & i=$((i+1)); done; wait'
    const again = { ...room, name: `${room.name}-b` }
    const end = await go(runOf(shell(script), { room: again, limits: { pids: 8, wallMs: 10_000 } }))
    expect(['pid-limit', 'exit']).toContain(end.cause) // without control groups refused forks are not counted
    expect(end.exitCode).not.toBe(0)
  })

  test('cpus limits the share of the processors', async (context) => {
    await keeping(context, ({ limits }) => limits.cpus === 'all', 'a share of processors')
    using room = emptyRoom()
    const burn = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
    const start = realClock.monotonic() // not from the start message, which may be late
    const end = await go(runOf(shell(`(${burn}) & (${burn}) & wait`), { room, limits: { cpus: 0.25, wallMs: 25_000 } }))
    const wallMs = realClock.monotonic() - start
    const { cpuUserMs = 0, cpuSystemMs = 0 } = end.usage
    expect(cpuUserMs + cpuSystemMs).toBeGreaterThan(50)
    expect(cpuUserMs + cpuSystemMs).toBeLessThan(0.4 * wallMs + 100)
  })

  test('output above outputFloodBytes ends the command with the cause output-limit', async () => {
    using room = emptyRoom()
    const limits = { outputBytes: 1000, outputFloodBytes: 1_000_000, wallMs: 20_000 }
    const end = await go(runOf(shell('while :; do echo flood; echo flood >&2; done'), { room, limits }))
    expect(end.cause).toBe('output-limit')
    expect(end.stdout.bytes.length).toBe(1000)
  })

  test.each([
    ['with many files', 'i=0; while :; do i=$((i+1)); head -c 300000 /dev/zero > f$i; done'],
    ['with empty files', 'i=0; while :; do i=$((i+1)); : > f$i; done'],
    [
      'with a file that was removed but is open',
      'exec 5>f; rm f; while :; do head -c 100000 /dev/zero >&5; sleep 0.01; done',
    ],
    ['with temporary files', 'cd "$TMPDIR"; i=0; while :; do i=$((i+1)); head -c 300000 /dev/zero > f$i; done'],
    ['with one large file', 'exec cat /dev/zero > f'],
  ])('a room filled %s ends with the cause disk-limit', async (_, script) => {
    using room = emptyRoom()
    const end = await go(runOf(shell(script), { room, limits: { diskBytes: 2_000_000, wallMs: 25_000 } }))
    expect(end).toMatchObject({ cause: 'disk-limit' })
  })

  test('a room below diskBytes is not ended', async () => {
    using room = emptyRoom()
    const script = 'for i in 1 2 3 4; do head -c 100000 /dev/zero > f$i; sleep 0.1; done'
    expect(await go(runOf(shell(script), { room, limits: { diskBytes: 2_000_000 } }))).toMatchObject({ cause: 'ok' })
  })

  test('a read-only path can be read, and not changed', async (context) => {
    await keeping(context, ({ keeps }) => keeps.readOnly, 'inputs from being written')
    using room = emptyRoom()
    mkdirSync(join(room.path, 'in'))
    writeFileSync(join(room.path, 'in/a'), 'as it was', { mode: 0o666 })
    const script =
      'cat in/a; echo x > in/a; rm -f in/a; mv in out; chmod 777 in/a; ln in/a b; touch in/new; echo made > c'
    const end = await go(runOf(shell(script), { room: { ...room, readOnly: ['in'] } }))
    expect([end.cause, text(end.stdout.bytes)]).toEqual(['ok', 'as it was'])
    expect(readFileSync(join(room.path, 'in/a'), 'utf8')).toBe('as it was')
    expect(readFileSync(join(room.path, 'c'), 'utf8')).toBe('made\n')
    const all = { ...room, name: `${room.name}-b`, readOnly: [''] }
    expect(await go(runOf(shell('echo x > d'), { room: all }))).toMatchObject({ cause: 'exit' })
    for (const readOnly of [['nowhere'], ['../tmp'], ['..'], ['in/../..']])
      await expect(go(runOf(['true'], { room: { ...room, readOnly } })), `${readOnly}`).rejects.toMatchObject({
        fault: { kind: 'invalid' },
      })
  })

  test('a command has no network unless it requests it', async (context) => {
    await keeping(context, ({ keeps }) => keeps.network, 'commands from the network')
    using room = emptyRoom()
    const script = "sed -n 's/^ *\\([^:]*\\):.*/\\1/p' /proc/net/dev"
    const ours = readFileSync('/proc/net/dev', 'utf8')
      .split('\n')
      .filter((line) => line.includes(':'))
      .map((line) => line.split(':')[0]?.trim())
    const off = await go(runOf(shell(script), { room }))
    expect(text(off.stdout.bytes).trim()).toBe('lo')
    const on = await go(runOf(shell(script), { room: { ...room, name: `${room.name}-b` }, command: { network: true } }))
    expect(text(on.stdout.bytes).trim().split('\n')).toEqual(ours)
  })
}
