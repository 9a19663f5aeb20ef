import { lchownSync, lstatSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'
import { plainCommand } from '../plain-command.ts'
import type { Rooms } from '../rooms/rooms.ts'

export interface NamedPipesOptions {
  readonly rooms: Rooms
  readonly runtime: Pick<Runtime, 'run'>
  /** Unlike that of any other room of this worker. */
  readonly roomName: () => string
}

/** Made at a time: it takes a program to make one. */
const BATCH = 32
const LIMITS = { wallMs: 20_000, memoryBytes: 256 * 1024 ** 2, pids: 16, outputBytes: 4096 }

/**
 * Named pipes that belong to the user of rooms, for putting into rooms. They are made by that user, in a room like any other:
 * so nothing has to be given away, and a worker without rights can do it, too.
 */
export function namedPipes({ rooms, runtime, roomName }: NamedPipesOptions) {
  let store: Awaited<ReturnType<Rooms['open']>> | undefined
  let left: string[] = []

  const more = async (signal: AbortSignal): Promise<void> => {
    await store?.[Symbol.asyncDispose]()
    store = await rooms.open(roomName())
    const names = Array.from({ length: BATCH }, (_, i) => `${i}`)
    const command = plainCommand({ argv: ['mkfifo', '-m', '600', ...names], env: [], limits: LIMITS, platform: [] })
    const { cause, reason } = await runtime.run({ command, room: store, limits: LIMITS, hooks: {} }, signal)
    if (cause !== 'ok')
      throw new FaultError({ kind: 'unavailable', what: `named pipes could not be made: ${reason ?? cause}` })
    left = names
  }

  return {
    async placeAt(path: string, signal: AbortSignal): Promise<void> {
      if (left.length === 0) await more(signal)
      const made = join(store?.path ?? '', left.pop() as string)
      const { uid, gid } = statSync(dirname(path))
      // Only root has rooms of several users, and nothing has run in either room that could make this another file.
      if (lstatSync(made).uid !== uid) lchownSync(made, uid, gid)
      renameSync(made, path)
    },
    async close(): Promise<void> {
      await store?.[Symbol.asyncDispose]()
      store = undefined
      left = []
    },
  }
}
