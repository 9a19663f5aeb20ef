import { lchownSync, lstatSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import { PLAIN_COMMAND, type Runtime } from '../../runtimes/run/runtime.ts'
import type { OpenRoom, Rooms } from '../rooms/rooms.ts'

export interface NamedPipesOptions {
  readonly rooms: Rooms
  readonly runtime: Pick<Runtime, 'run'>
  /** The prefix of the names of its rooms. No other room of this machine has it. */
  readonly namePrefix: string
}

/** mkfifo(1) makes this many at a time. */
const BATCH = 32
const LIMITS = { wallMs: 20_000, memoryBytes: 256 * 1024 ** 2, pids: 16, outputBytes: 4096 }

/**
 * Named pipes that belong to the user of rooms, to be moved into rooms. That user makes them, in a room like any other,
 * so that a worker that is not root can have them too.
 */
export function namedPipes({ rooms, runtime, namePrefix }: NamedPipesOptions) {
  let store: OpenRoom | undefined
  let left: string[] = []
  let made = 0

  const more = async (signal: AbortSignal): Promise<void> => {
    await store?.[Symbol.asyncDispose]()
    store = rooms.open(`${namePrefix}-pipes-${++made}`)
    const names = Array.from({ length: BATCH }, (_, i) => `${i}`)
    const command = { ...PLAIN_COMMAND, argv: ['mkfifo', '-m', '600', ...names] }
    const { cause, reason } = await runtime.run({ command, room: store, limits: LIMITS, hooks: {} }, signal)
    if (cause !== 'ok')
      throw new FaultError({ kind: 'unavailable', what: `named pipes could not be made: ${reason ?? cause}` })
    left = names
  }

  return {
    async placeAt(path: string, signal: AbortSignal): Promise<void> {
      if (left.length === 0) await more(signal)
      const pipe = join(store?.path ?? '', left.pop() as string)
      const { uid, gid } = statSync(dirname(path))
      // Only a root worker has rooms of several users. No command has run in either room, so the file is still the pipe
      // that was made.
      if (lstatSync(pipe).uid !== uid) lchownSync(pipe, uid, gid)
      renameSync(pipe, path)
    },
    async close(): Promise<void> {
      await store?.[Symbol.asyncDispose]()
      store = undefined
      left = []
    },
  }
}
