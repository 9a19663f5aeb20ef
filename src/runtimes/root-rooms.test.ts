import { describe, expect, test } from 'vitest'
import { requireTool } from '../testing/require.ts'
import { IS_ROOT } from './bare/bare.fixture.ts'
import { emptyRoom, runOf, shell } from './run/rooms.fixture.ts'
import { sandboxBy } from './sandbox/sandbox.fixture.ts'
import { unshareBy } from './unshare/unshare.fixture.ts'

const by = { way: 'direct', useGroups: true, more: { user: undefined } } as const
const KINDS = [
  { kind: 'unshare', tool: 'unshare', open: () => unshareBy(by) },
  { kind: 'sandbox', tool: 'bwrap', open: () => sandboxBy(by) },
] as const

/**
 * Rooms of a worker that is root, where no other user can reach its folder: a room could change any file of root that
 * it can reach.
 */
describe.each(KINDS)('rooms by $kind that belong to root', ({ tool, open }) => {
  const { present, reason } = requireTool(tool)
  const why = !present ? reason : IS_ROOT ? undefined : 'only the rooms of root can belong to root'
  const options = why === undefined ? {} : { skip: true, meta: { skipReason: why } }

  test(
    'a room cannot change kernel settings, and its standard streams are no shared device files',
    options,
    async () => {
      await using rooms = open()
      using room = emptyRoom()
      const script = `
      for name in kernel/core_pattern vm/swappiness kernel/shmmax; do
        read -r value < /proc/sys/$name
        (echo "$value" > /proc/sys/$name) 2>/dev/null && echo "changed $name"
      done
      for fd in 0 1 2; do case $(readlink /proc/self/fd/$fd) in /dev/*) echo "holds $fd"; esac; done
      cat`
      const { cause, stdout } = await rooms.runtime.run(runOf(shell(script), { room }), new AbortController().signal)
      expect([cause, Buffer.from(stdout.bytes).toString()]).toEqual(['ok', ''])
    },
  )
})
