import { expect, test } from 'vitest'
import { runOf, shell } from '../../runtimes/run/rooms.fixture.ts'
import type { Run, Runtime } from '../../runtimes/run/runtime.ts'
import { rooted } from './rooted-runtime.ts'

test('only a command for a language with its own root filesystem runs on that filesystem', async () => {
  const seen: (string | undefined)[] = []
  const inner = {
    async run({ room }: Run) {
      seen.push(room.rootfs)
    },
  } as unknown as Runtime
  const runtime = rooted(inner, (name) => (name === 'python-data' ? '/systems/data' : undefined))
  const room = { name: 'r', path: '/rooms/r', tmp: undefined }
  for (const value of ['python-data', 'python-data@3.11.2', 'python', '../python-data', ''])
    await runtime.run(
      runOf(shell('true'), { room, command: { platform: [{ name: 'language', value }] } }),
      new AbortController().signal,
    )
  await runtime.run(runOf(shell('true'), { room }), new AbortController().signal)
  expect(seen).toEqual(['/systems/data', '/systems/data', undefined, undefined, undefined, undefined])
})
