import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { testWith } from '../../testing/require.ts'
import { launcherOptions } from '../bare/bare.fixture.ts'
import type { LaunchEnd, LaunchSpec } from '../launcher/launcher.ts'
import { localLauncher } from '../launcher/local-launcher.ts'
import { isGone } from '../run/contract.ts'
import { realClock } from '../run/rooms.fixture.ts'

/**
 * A program that makes rooms, controlled by a hostile command: it reports the first process of its pid namespace,
 * reports success, and leaves the namespace behind. No process in it carries a marker, and session and parent differ.
 */
const taken = (file: string, end: string): string => `
inside='read -r pid rest </proc/self/stat; echo "{\\"child-pid\\": $pid}" >&3; echo $pid > ${file}; exec 0<&- 1>&- 2>&- 3>&-; exec sleep 300'
setsid unshare --user --map-root-user --pid --fork env -i /bin/sh -c "$inside" &
while [ ! -s ${file} ]; do sleep 0.02; done
${end}`

const orderOf = (script: string): LaunchSpec => ({
  ...{ name: 'taken', argv: ['/bin/sh', '-c', script], env: [['PATH', '/usr/bin:/bin']], cwd: '/', user: undefined },
  ...{ hasInput: false, hasStatus: true, outputBytes: 4096 },
  limits: { memoryBytes: undefined, pids: undefined, cpuMs: undefined },
})

const IGNORED = { started() {}, output() {}, dropped() {} }

async function pidIn(file: string): Promise<number> {
  while (!existsSync(file) || readFileSync(file, 'utf8') === '')
    await new Promise<void>((resolve) => void realClock.after(20, resolve))
  return Number(readFileSync(file, 'utf8'))
}

describe('room whose init process is controlled by a hostile command', () => {
  const begin = () => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-taken-'))
    const options = launcherOptions(false)
    onTestFinished(() => {
      for (const each of [folder, options.folder]) rmSync(each, { recursive: true, force: true })
    })
    return { file: join(folder, 'pid'), options, launcher: localLauncher(options) }
  }

  testWith('unshare', 'all its processes end with the launch, without any marker', async () => {
    const { file, launcher } = begin()
    const end = await new Promise<LaunchEnd>(
      (ended) => void launcher.start(orderOf(taken(file, 'exit 0')), { ...IGNORED, ended }),
    )
    expect(end).toMatchObject({ kind: 'exited', exit: { code: 0, hasSurvivors: false } })
    expect(await isGone(await pidIn(file))).toBe(true)
    await launcher.close()
  })

  testWith('unshare', 'all its processes end when the launch is stopped', async () => {
    const { file, launcher } = begin()
    const ended = Promise.withResolvers<LaunchEnd>()
    const launch = launcher.start(orderOf(taken(file, 'exec sleep 300')), { ...IGNORED, ended: ended.resolve })
    const pid = await pidIn(file)
    launch.stop()
    await ended.promise
    expect(await isGone(pid)).toBe(true)
    await launcher.close()
  })

  testWith('unshare', 'processes that outlived their launcher end when the next launcher starts', async () => {
    const { file, launcher, options } = begin()
    const ended = Promise.withResolvers<LaunchEnd>()
    launcher.start(orderOf(taken(file, 'exec sleep 300')), { ...IGNORED, ended: ended.resolve })
    const pid = await pidIn(file)
    expect(existsSync(`/proc/${pid}`)).toBe(true)
    const next = localLauncher({ ...options, name: `${options.name}-next` })
    expect(await isGone(pid)).toBe(true)
    await ended.promise
    await next.close()
    await launcher.close()
  })
})
