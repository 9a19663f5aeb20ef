import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatDigest } from '../../src/base/digest-text.ts'
import { digestOf } from '../../src/base/hashing/hash-of.ts'
import { bareBy } from '../../src/runtimes/bare/bare.fixture.ts'
import type { RuntimeUnderTest } from '../../src/runtimes/run/contract.ts'
import { commandOf, emptyRoom, shell } from '../../src/runtimes/run/rooms.fixture.ts'
import { sandboxBy } from '../../src/runtimes/sandbox/sandbox.fixture.ts'
import { unshareBy } from '../../src/runtimes/unshare/unshare.fixture.ts'
import { threadPool } from '../../src/storage/bulk/thread-pool.ts'
import { describeWith } from '../../src/testing/require.ts'
import { collectOutputs } from '../../src/worker/outputs/collect-outputs.ts'
import type { Collected } from '../../src/worker/outputs/output-collector.ts'
import { actionTask } from '../../src/worker/tasks.fixture.ts'

/** Hostile files in the place of outputs, and how the worker, which may read everything, collects them. */
const never = new AbortController().signal
const SECRET = 'a secret of the machine'
const folder = mkdtempSync(join(tmpdir(), 'windlass-secret-'))
writeFileSync(join(folder, 'secret'), SECRET, { mode: 0o600 })
const bulk = threadPool(1)
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await bulk.close()
})

const by = { way: 'spawner', useGroups: true } as const
const DRIVERS = {
  bare: { tool: 'sh', make: () => bareBy('spawner', true) },
  unshare: { tool: 'unshare', make: () => unshareBy(by) },
  sandbox: { tool: 'bwrap', make: () => sandboxBy(by) },
}

describe.each(Object.keys(DRIVERS) as (keyof typeof DRIVERS)[])('outputs of a room of %s', (name) => {
  const { tool, make } = DRIVERS[name]
  describeWith(tool, 'with hostile files', () => {
    let driver: RuntimeUnderTest
    beforeAll(() => {
      driver = make()
    })
    afterAll(() => driver.close())

    /** Runs the script, and collects the `expected` paths from the room. */
    async function collected(script: string, ...expected: string[]): Promise<Collected> {
      using room = emptyRoom()
      const command = commandOf(shell(script))
      const end = await driver.runtime.run({ command, room, limits: { wallMs: 20_000 }, hooks: {} }, never)
      expect(end, Buffer.from(end.stderr.bytes).toString()).toMatchObject({ cause: 'ok' })
      const rules = { mostNodes: 1000, mostBytes: 1 << 30, absoluteSymlinks: 'allowed' } as const
      return await collectOutputs(
        { task: actionTask({ outputs: { paths: expected } }), root: room.path },
        { bulk, rules },
        never,
      )
    }
    const secret = formatDigest(digestOf('sha256', Buffer.from(SECRET)))
    const leaks = ({ blobs }: Collected): boolean => blobs.some(({ digest }) => formatDigest(digest) === secret)

    test('a symlink to a host file is collected as a symlink, not as the file', async () => {
      const all = await collected(
        `ln -s ${folder}/secret out; ln -s /proc/self/root${folder}/secret other`,
        'out',
        'other',
      )
      expect(all.outputs.outputSymlinks.map(({ path }) => path)).toEqual(['out', 'other'])
      expect([leaks(all), all.blobs.length]).toEqual([false, 0])
    })

    test('an output path through a symlink out of the room is refused as invalid', async () => {
      await expect(collected(`ln -s ${folder} d`, 'd/secret')).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    })

    test('symlinks within an output directory are not followed', async () => {
      const all = await collected(`mkdir d; ln -s ${folder}/secret d/a; ln -s / d/root; ln -s d d/d; echo x > d/x`, 'd')
      expect([all.outputs.outputDirectories.length, leaks(all)]).toEqual([1, false])
    })

    test.each([
      ['a pipe', 'mkfifo out'],
      ['a pipe in a directory', 'mkdir out; mkfifo out/pipe'],
      ['a terabyte', 'truncate -s 1T out'],
      ['more files than are carried', 'mkdir out; i=0; while [ $i -lt 1100 ]; do : > out/$i; i=$((i+1)); done'],
    ])('%s is refused as an output', async (_, script) => {
      await expect(collected(script, 'out')).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    })

    test('a cycle of symlinks is no output, and does not block collection', async () => {
      const all = await collected('ln -s b a; ln -s a b', 'a/x')
      expect(all.blobs).toEqual([])
    })
  })
})
