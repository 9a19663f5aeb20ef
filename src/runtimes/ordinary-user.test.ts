import { describe, expect, test } from 'vitest'
import { requireTool } from '../testing/require.ts'
import { bareBy, whyNotOrdinary } from './bare/bare.fixture.ts'
import { emptyRoom, runOf, shell } from './run/rooms.fixture.ts'
import type { Runtime } from './run/runtime.ts'
import { sandboxBy } from './sandbox/sandbox.fixture.ts'
import { unshareBy } from './unshare/unshare.fixture.ts'

const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const by = { way: 'ordinary', useGroups: true } as const

const KINDS = [
  { kind: 'bare', tool: 'sh', open: () => bareBy(by.way, by.useGroups) },
  { kind: 'unshare', tool: 'unshare', open: () => unshareBy(by) },
  { kind: 'sandbox', tool: 'bwrap', open: () => sandboxBy(by) },
] as const

/** Rooms whose user is also the worker's user: a room could change any file of the worker that it can reach. */
describe.each(KINDS)('worker without root, rooms by $kind', ({ tool, open }) => {
  const { present, reason } = requireTool(tool)
  const why = present ? whyNotOrdinary() : reason
  const options = why === undefined ? {} : { skip: true, meta: { skipReason: why } }

  async function* stdin(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x')
  }
  const ran = async (runtime: Runtime, script: string) => {
    using room = emptyRoom()
    return await runtime.run(runOf(shell(script), { room, hooks: { stdin: stdin() } }), never)
  }

  test(
    'a command that sets its own streams to mode 0 affects no later command and no worker shutdown',
    options,
    async () => {
      await using rooms = open()
      await ran(rooms.runtime, 'chmod 0 /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2')
      for (let i = 0; i < 4; i++) {
        const end = await ran(rooms.runtime, 'cat; echo y >&2')
        expect([end.cause, text(end.stdout.bytes), text(end.stderr.bytes)], end.reason).toEqual(['ok', 'x', 'y\n'])
      }
    },
  )
})
