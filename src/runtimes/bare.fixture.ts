import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BareOptions, bareRuntime } from './bare.ts'
import type { RuntimeUnderTest } from './contract.ts'
import type { Launcher } from './launcher/launcher.ts'
import { type LocalLauncherOptions, localLauncher } from './launcher/local-launcher.ts'
import { realClock } from './rooms.fixture.ts'
import { spawner } from './spawner/spawner.ts'

export type Way = 'spawner' | 'direct'

// biome-ignore lint/style/noRestrictedGlobals: this is the wiring of tests
const host = process
let made = 0

/** A name and a folder of its own: whatever runs under the name is killed by the next that has it. */
export function launcherOptions(useGroups: boolean): LocalLauncherOptions {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-launcher-'))
  const name = `test-${host.pid}-${++made}`
  return { name, folder, useGroups, clock: realClock, send: (pid, signal) => void host.kill(pid, signal) }
}

export function launcherBy(way: Way, options: LocalLauncherOptions): Launcher {
  if (way === 'direct') return localLauncher(options)
  const entry = new URL('./spawner/spawner-process.fixture.ts', import.meta.url)
  return spawner({ ...options, node: host.execPath, entry })
}

export interface BareUnderTest extends RuntimeUnderTest, AsyncDisposable {
  /** Of its launcher. */
  readonly name: string
}

export function bareBy(way: Way, useGroups: boolean, more: Partial<BareOptions> = {}): BareUnderTest {
  const options = launcherOptions(useGroups)
  const launcher = launcherBy(way, options)
  const close = async (): Promise<void> => {
    await launcher.close()
    rmSync(options.folder, { recursive: true, force: true })
  }
  const runtime = bareRuntime({ launcher, clock: realClock, env: [], user: undefined, outputBytes: 16 << 20, ...more })
  return { name: options.name, runtime, close, [Symbol.asyncDispose]: close }
}
