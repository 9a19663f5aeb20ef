/** The same sandbox without a grid: it only starts a program. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../src/app/process/clock.ts'
import type { Language } from '../../../src/model/language.ts'
import { openRuntime } from '../../../src/runtimes/open-runtime.ts'
import { PLAIN_COMMAND, type Runtime } from '../../../src/runtimes/run/runtime.ts'
import { spawner } from '../../../src/runtimes/spawner/spawner.ts'
import { openRooms, type Rooms, sameUser } from '../../../src/worker/rooms/rooms.ts'
import { answerWith } from '../../child.ts'

export interface RoomQuestion {
  readonly folder: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly limits: Language['run']['limits']
  readonly times: number
  readonly pauseMs: number
}

async function open(folder: string): Promise<{ runtime: Runtime; rooms: Rooms }> {
  const launcher = join(folder, 'launcher')
  mkdirSync(launcher, { recursive: true, mode: 0o711 })
  const deps = {
    launcher: spawner({
      ...{ name: `bench-${process.pid}`, folder: launcher, useGroups: true, node: process.execPath },
      entry: new URL('../../../src/app/worker/spawner-process.ts', import.meta.url),
      send: (pid, signal) => void process.kill(pid, signal),
      clock: systemClock,
    }),
    ...{ clock: systemClock, env: [], outputBytes: 1 << 20, folder: join(folder, 'runtime') },
    ...{ arch: process.arch, uid: process.getuid?.() ?? 0 },
  }
  const { runtime, user } = await openRuntime('sandbox', deps)
  return { runtime, rooms: await openRooms(join(folder, 'rooms'), sameUser(user)) }
}

let opened: ReturnType<typeof open> | undefined
let made = 0

answerWith(async ({ folder, argv, env, limits, times, pauseMs }: RoomQuestion) => {
  opened ??= open(folder)
  const { runtime, rooms } = await opened
  const took: number[] = []
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
  const command = { ...PLAIN_COMMAND, argv, env: variables }
  for (let i = 0; i < times; i++) {
    await using room = rooms.open(`bench-${process.pid}-${++made}`)
    runtime.expect() // every task does this while it is being prepared
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const from = performance.now()
    const { cause } = await runtime.run({ command, room, limits, hooks: {} }, new AbortController().signal)
    took.push(performance.now() - from)
    if (cause !== 'ok') throw new Error(`in a room ${argv[0]} ended with ${cause}`)
  }
  return took
})
