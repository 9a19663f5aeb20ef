import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hostNetworks } from '../network/room-networks.ts'
import type { RuntimeUnderTest } from '../run/contract.ts'
import { realClock } from '../run/rooms.fixture.ts'
import { type DockerRuntime, dockerRuntime } from './docker.ts'
import type { DockerOptions } from './docker-options.ts'

// biome-ignore lint/style/noRestrictedGlobals: this is the wiring of tests
const host = process
let made = 0

/** A uid that no other user of this machine has. */
export const CONTAINER_USER = { uid: 65_522, gid: 65_522 }

export interface DockerUnderTest extends RuntimeUnderTest, AsyncDisposable {
  readonly runtime: DockerRuntime
  readonly options: DockerOptions
}

/** A separate runtime on an existing engine, with an image that the engine has. */
export function dockerBy(socketPath: string, image: string, more: Partial<DockerOptions> = {}): DockerUnderTest {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-docker-')))
  chmodSync(folder, 0o755)
  const fixed = { clock: realClock, socketPath, folder, env: [], user: CONTAINER_USER, outputBytes: 16 << 20 }
  const machine = { networks: hostNetworks(), arch: host.arch, isRoot: host.getuid?.() === 0 }
  const images = { pull: 'never', maxBytes: 1 << 30, image } as const
  const options = { ...fixed, worker: `test-${host.pid}-${++made}`, images, ...machine, ...more }
  const runtime = dockerRuntime(options)
  const close = async (): Promise<void> => {
    await runtime.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { runtime, options, close, [Symbol.asyncDispose]: close }
}
