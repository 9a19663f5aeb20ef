import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testWith } from '../../testing/require.ts'
import { isGone, runtimeContract } from '../run/contract.ts'
import { commandOf, emptyRoom, PATH, runOf, shell, testWhere } from '../run/rooms.fixture.ts'
import { bareBy, launcherBy, launcherOptions } from './bare.fixture.ts'

const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

runtimeContract('bare through a spawner, with control groups where there are any', async () => bareBy('spawner', true))
runtimeContract('bare through a spawner, without control groups', async () => bareBy('spawner', false))
runtimeContract('bare from this process, with control groups where there are any', async () => bareBy('direct', true))
runtimeContract('bare from this process, without control groups', async () => bareBy('direct', false))

/** Whether this machine permits control groups, and for which limits. */
const options = launcherOptions(true)
const launcher = launcherBy('direct', options)
const facts = await launcher.facts()
await launcher.close()
rmSync(options.folder, { recursive: true, force: true })
const withGroups = testWhere(facts.tree === 'group', 'no control group can be made here')
const asRoot = testWhere(process.getuid?.() === 0, 'only root can run a command as another user')

describe('environment of a command', () => {
  test('the command sees only the declared variables and the defaults, and its own values take precedence', async () => {
    process.env.WINDLASS_SECRET = 'from our own environment'
    const env = [
      { name: 'PATH', value: PATH },
      { name: 'LANG', value: 'C' },
    ]
    await using bare = bareBy('direct', true, { env })
    using room = emptyRoom()
    const command = { env: [{ name: 'LANG', value: 'C.UTF-8' }] }
    const end = await bare.runtime.run(runOf(['env'], { room, command }), never)
    delete process.env.WINDLASS_SECRET
    const marker = facts.tree === 'group' ? [] : [expect.stringContaining('WINDLASS_ROOM=')]
    const seen = text(end.stdout.bytes).trim().split('\n').sort()
    expect(seen).toEqual(['LANG=C.UTF-8', `PATH=${PATH}`, `TMPDIR=${room.tmp}`, ...marker])
  })

  test('the environment of a spawner is empty', async () => {
    await using bare = bareBy('spawner', true)
    using room = emptyRoom()
    const script = "tr '\\0' '\\n' < /proc/$PPID/environ; echo; readlink /proc/$PPID/cwd"
    expect(text((await bare.runtime.run(runOf(shell(script), { room }), never)).stdout.bytes).trim()).toBe('/')
  })
})

describe('process tree', () => {
  // Leaves its session, parent and environment and closes its output, so that no marker is left.
  const daemon = `
    const { spawn } = require('node:child_process')
    const child = spawn('/bin/sleep', ['63'], { detached: true, env: {}, stdio: 'ignore' })
    require('node:fs').writeFileSync('pid', String(child.pid))
    child.unref()`

  withGroups('a daemon that wiped every marker is found by its control group and killed', async () => {
    await using bare = bareBy('spawner', true)
    using room = emptyRoom()
    await bare.runtime.run(runOf([process.execPath, '-e', daemon], { room }), never)
    expect(await isGone(Number(readFileSync(join(room.path, 'pid'), 'utf8')))).toBe(true)
  })

  test('no control group is left after close', async () => {
    const bare = bareBy('spawner', true)
    using room = emptyRoom()
    await bare.runtime.run(runOf(shell('sleep 60 &'), { room }), never)
    // Other tests create and remove groups meanwhile: a group that is gone when it is opened does not count.
    const groups = (path = '/sys/fs/cgroup'): string[] => {
      try {
        const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
        return below.flatMap(({ name }) => [join(path, name, '/'), ...groups(join(path, name))])
      } catch {
        return []
      }
    }
    const ours = (): string[] => groups().filter((path) => path.includes(`windlass-${bare.name}/`))
    if (facts.tree === 'group') expect(ours()).not.toEqual([])
    await bare.close()
    expect(ours()).toEqual([])
  })

  const stopsBombs = testWhere(facts.pids === 'all', 'no control group can limit processes here')
  stopsBombs('a fork bomb is held to the pids limit, and is killed at its wall time limit', async () => {
    await using bare = bareBy('spawner', true)
    using room = emptyRoom()
    const run = runOf(shell('bomb() { bomb | bomb & }; bomb; sleep 60'), { room, limits: { pids: 40, wallMs: 1500 } })
    const end = await bare.runtime.run(run, never)
    expect(end.cause).toBe('timeout')
    const ours = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => existsSync(`/proc/${pid}/cmdline`) && read(`/proc/${pid}/cmdline`).includes('bomb() {'))
    expect(ours).toEqual([])
  })

  stopsBombs('a command that was refused a process ends with the cause pid-limit', async () => {
    await using bare = bareBy('spawner', true)
    using room = emptyRoom()
    const script = 'for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; wait'
    const end = await bare.runtime.run(runOf(shell(script), { room, limits: { pids: 4, wallMs: 10_000 } }), never)
    expect([end.cause, end.reason]).toEqual(['pid-limit', 'it was refused more than 4 processes'])
  })

  withGroups('CPU time and memory of all processes are counted together', async () => {
    await using bare = bareBy('spawner', true)
    using room = emptyRoom()
    const burn = 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'
    const end = await bare.runtime.run(runOf(shell(`(${burn}) & (${burn}) & wait`), { room }), never)
    expect(end.usage.how).toBe('counted')
    expect(end.usage.cpuUserMs).toBeGreaterThan(10)
    if (facts.memory === 'all') expect(end.usage.peakMemoryBytes).toBeGreaterThan(100_000)
  })
})

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

describe('command as another user', () => {
  const user = { uid: 54_321, gid: 54_322 }

  asRoot("the command runs as that user, without the worker's groups, and can open its output by name", async () => {
    await using bare = bareBy('spawner', true, { user })
    using room = emptyRoom()
    const end = await bare.runtime.run(runOf(shell('id -u; id -G; echo x > /dev/stdout'), { room }), never)
    expect(text(end.stdout.bytes)).toBe('54321\n54322\nx\n')
  })

  asRoot('the command cannot write a file that is read-only for its user', async () => {
    await using bare = bareBy('spawner', true, { user })
    using room = emptyRoom()
    writeFileSync(join(room.path, 'ours'), 'as it was')
    chmodSync(join(room.path, 'ours'), 0o444)
    const end = await bare.runtime.run(runOf(shell('echo changed > ours'), { room }), never)
    expect([end.cause, readFileSync(join(room.path, 'ours'), 'utf8')]).toEqual(['exit', 'as it was'])
  })

  asRoot('a program that its user may not execute ends as not-started, with exit code 126', async () => {
    await using bare = bareBy('spawner', true, { user })
    using room = emptyRoom()
    writeFileSync(join(room.path, 'tool'), '#!/bin/sh\n', { mode: 0o700 })
    expect(await bare.runtime.run(runOf(['./tool'], { room }), never)).toMatchObject({
      cause: 'not-started',
      exitCode: 126,
    })
  })
})

describe('standard input', () => {
  test('input left unread by one command is not read by the next', async () => {
    await using bare = bareBy('direct', true)
    using room = emptyRoom()
    async function* stdin(): AsyncGenerator<Uint8Array> {
      yield randomBytes(1000)
    }
    for (let i = 0; i < 40; i++) {
      const name = `${room.name}-${i}`
      const deaf = runOf(['true'], { room: { ...room, name }, hooks: { stdin: stdin() } })
      const silent = { async *stdin() {} }.stdin()
      const reading = runOf(['wc', '-c'], { room: { ...room, name: `${name}-r` }, hooks: { stdin: silent } })
      await bare.runtime.run(deaf, never)
      expect(text((await bare.runtime.run(reading, never)).stdout.bytes).trim()).toBe('0')
    }
  })
})

test('a room name with a slash, a leading dot or 300 characters is refused', async () => {
  await using bare = bareBy('direct', true)
  using room = emptyRoom()
  for (const name of ['', '..', '../x', 'a/b', '.hidden', 'x'.repeat(300)])
    await expect(
      bare.runtime.run({ command: commandOf(['true']), room: { ...room, name }, limits: {}, hooks: {} }, never),
    ).rejects.toThrow('no name for a room')
})

testWith('bash', 'a variable BASH_FUNC_exec%% does not become a shell function', async () => {
  await using bare = bareBy('direct', true)
  using room = emptyRoom()
  const command = {
    env: [
      { name: 'PATH', value: PATH },
      { name: 'BASH_FUNC_exec%%', value: '() { echo caught; }' },
    ],
  }
  const run = runOf(['echo', 'safe'], { room, command, limits: { openFiles: 100 } })
  expect(text((await bare.runtime.run(run, never)).stdout.bytes)).toBe('safe\n')
})
