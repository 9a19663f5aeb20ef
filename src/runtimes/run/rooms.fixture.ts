import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import type { Clock } from '../../base/clock.ts'
import type { Command, Limits } from '../../model/command.ts'
import type { Room, Run, RunHooks } from './runtime.ts'

/** The real clock: these tests run real processes. */
export const realClock: Clock = {
  // biome-ignore lint/plugin: tests have no wiring that would give them a clock
  now: () => Date.now(),
  // biome-ignore lint/plugin: as above
  monotonic: () => performance.now(),
  after(ms, callback) {
    // biome-ignore lint/style/noRestrictedGlobals: tests have no wiring that would give them a clock
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

export const PATH = '/usr/local/bin:/usr/bin:/bin'

let rooms = 0

/** A room that is deleted at the end of the block. */
export function emptyRoom(): Room & Disposable {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-room-')))
  const path = join(folder, 'root')
  const tmp = join(folder, 'tmp')
  mkdirSync(path)
  mkdirSync(tmp)
  for (const each of [folder, path, tmp]) chmodSync(each, 0o777)
  // biome-ignore lint/style/noRestrictedGlobals: several test files run at a time on one machine
  const name = `test-${process.pid}-${++rooms}`
  return { name, path, tmp, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

export const commandOf = (argv: readonly string[], more: Partial<Command> = {}): Command => ({
  argv,
  env: [{ name: 'PATH', value: PATH }],
  workingDirectory: '',
  inputs: { root: undefined, files: [], uris: [] },
  outputs: { paths: { kind: 'any', paths: [] }, globs: [], directoryFormat: 'tree', properties: [] },
  platform: [],
  image: undefined,
  limits: {},
  network: false,
  cacheable: false,
  ...more,
})

export interface RunParts {
  readonly room: Room
  readonly limits?: Limits
  readonly hooks?: RunHooks
  readonly command?: Partial<Command>
}

export const runOf = (argv: readonly string[], { room, limits = {}, hooks = {}, command }: RunParts): Run => ({
  command: commandOf(argv, command),
  room,
  limits,
  hooks,
})

export const shell = (script: string): readonly string[] => ['/bin/sh', '-c', script]

/** A test that not every machine can run; where it cannot, the report states why. */
export const testWhere =
  (holds: boolean, reason: string) =>
  (name: string, body: () => Promise<void>): void =>
    test(name, holds ? {} : { skip: true, meta: { skipReason: reason } }, body)
