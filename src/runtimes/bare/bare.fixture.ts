import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPEN_CHECKOUT, requireTool } from '../../testing/require.ts'
import type { Launcher } from '../launcher/launcher.ts'
import { type LocalLauncherOptions, localLauncher } from '../launcher/local-launcher.ts'
import type { RuntimeUnderTest } from '../run/contract.ts'
import { realClock } from '../run/rooms.fixture.ts'
import { spawner } from '../spawner/spawner.ts'
import { type BareOptions, bareRuntime } from './bare.ts'

/** `ordinary`: the spawner runs as an ordinary user, as the spawner of a worker without root does. */
export type Way = 'spawner' | 'direct' | 'ordinary'

// biome-ignore lint/style/noRestrictedGlobals: this is the wiring of tests
const host = process
let made = 0

/** A unique name and folder: the next launcher with the same name kills every process under it. */
export function launcherOptions(useGroups: boolean): LocalLauncherOptions {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-launcher-'))
  const name = `test-${host.pid}-${++made}`
  return { name, folder, useGroups, clock: realClock, send: (pid, signal) => void host.kill(pid, signal) }
}

export function launcherBy(way: Way, options: LocalLauncherOptions): Launcher {
  if (way === 'direct') return localLauncher(options)
  const entry = new URL('../spawner/spawner-process.fixture.ts', import.meta.url)
  const node = way === 'ordinary' && IS_ROOT ? nodeOfOrdinaryUser(options.folder) : host.execPath
  return spawner({ ...options, node, entry })
}

/** A uid that no other user and no other test file has, because test files run in parallel. */
const ORDINARY = 700_000 + host.pid
export const ORDINARY_USER = { uid: ORDINARY, gid: ORDINARY }
export const IS_ROOT = host.getuid?.() === 0
const SETPRIV = '/usr/bin/setpriv'

/** Why a test that is root cannot start a spawner as another user; undefined when it can, or when it is not root. */
export function whyNotOrdinary(): string | undefined {
  if (!IS_ROOT) return undefined
  if (!existsSync(SETPRIV)) return 'setpriv (util-linux) is not installed'
  const { present, reason } = requireTool(OPEN_CHECKOUT) // that user runs the spawner from the sources
  return present ? undefined : reason
}

/** Runs Node as this user without root's rights. The folder is given to that user. */
function nodeOfOrdinaryUser(folder: string): string {
  const { uid, gid } = ORDINARY_USER
  const program = join(folder, 'node')
  const words = `${SETPRIV} --reuid ${uid} --regid ${gid} --clear-groups ${host.execPath}`
  writeFileSync(program, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
  chownSync(folder, uid, gid)
  return program
}

export interface BareUnderTest extends RuntimeUnderTest, AsyncDisposable {
  /** Options of the launcher. */
  readonly name: string
  readonly launcher: Launcher
}

export function bareBy(way: Way, useGroups: boolean, more: Partial<BareOptions> = {}): BareUnderTest {
  const options = launcherOptions(useGroups)
  const launcher = launcherBy(way, options)
  const close = async (): Promise<void> => {
    await launcher.close()
    rmSync(options.folder, { recursive: true, force: true })
  }
  const runtime = bareRuntime({ launcher, clock: realClock, env: [], user: undefined, outputBytes: 16 << 20, ...more })
  return { name: options.name, launcher, runtime, close, [Symbol.asyncDispose]: close }
}
