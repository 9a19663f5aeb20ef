import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BareUnderTest, IS_ROOT, launcherBy, launcherOptions, type Way } from '../bare/bare.fixture.ts'
import type { RoomRuntimeOptions } from '../namespaces/room-runtime.ts'
import { hostNetworks } from '../network/room-networks.ts'
import { realClock } from '../run/rooms.fixture.ts'
import type { Runtime } from '../run/runtime.ts'
import { sandboxRuntime } from './sandbox.ts'

// biome-ignore lint/style/noRestrictedGlobals: this is the wiring of tests
const host = process
/** A uid that no other user of this machine has. */
const ROOM_USER = { uid: 65_521, gid: 65_521 }

export interface RoomsBy {
  readonly way: Way
  readonly useGroups: boolean
  readonly more?: Partial<RoomRuntimeOptions>
}

/** A runtime that makes rooms, with its own launcher and folder; as another user when the tests run as root. */
export function roomsBy(
  { way, useGroups, more = {} }: RoomsBy,
  make: (options: RoomRuntimeOptions) => Runtime,
): BareUnderTest {
  const options = launcherOptions(useGroups)
  const launcher = launcherBy(way, options)
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-rooms-')))
  chmodSync(folder, 0o755)
  const isRoot = IS_ROOT && way !== 'ordinary'
  const user = isRoot ? ROOM_USER : undefined
  const networks = hostNetworks()
  const fixed = { launcher, clock: realClock, env: [], user, isRoot, outputBytes: 16 << 20, folder, networks }
  const close = async (): Promise<void> => {
    await launcher.close()
    for (const each of [options.folder, folder]) rmSync(each, { recursive: true, force: true })
  }
  return { name: options.name, launcher, runtime: make({ ...fixed, ...more }), close, [Symbol.asyncDispose]: close }
}

export const sandboxBy = (by: RoomsBy) => roomsBy(by, (options) => sandboxRuntime({ ...options, arch: host.arch }))
