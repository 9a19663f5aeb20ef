import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { link, program, putBlob, putTree } from '../trees.fixture.ts'
import { bench, bulk, commandWith, never } from './stage-inputs.fixture.ts'

afterAll(() => bulk.close())

const placedAt = (path: string, digest: Digest, more: { writable?: boolean; executable?: boolean } = {}) => ({
  path,
  digest,
  executable: false,
  writable: false,
  ...more,
})

/** A task whose stage reads this blob from stdin. */
const fedWith = (task: CommandTask, digest: Digest): CommandTask => ({
  ...task,
  stages: task.stages.map((stage) => ({ ...stage, stdin: { kind: 'blob', digest } })),
})

test.each(['link', 'copy'] as const)(
  'placed files are read-only unless they are marked writable (%s)',
  async (placement) => {
    using at = await bench({ placement })
    const digest = await putBlob(at.store, 'content')
    const root = at.room()
    const placed = [
      placedAt('a/closed', digest),
      placedAt('a/open', digest, { writable: true }),
      placedAt('b/tool', digest, { executable: true }),
      placedAt('b/empty', await putBlob(at.store, ''), { writable: true }),
    ]
    using staged = await at.stage.stage(fedWith(commandWith(undefined, { inputs: { placed } }), digest), root, never)
    const modes = placed.map(({ path }) => (statSync(join(root, path)).mode & 0o777).toString(8))
    expect(modes).toEqual(['444', '644', '555', '644'])
    expect(placed.slice(0, 3).map(({ path }) => readFileSync(join(root, path), 'utf8'))).toEqual(
      Array(3).fill('content'),
    )
    writeFileSync(join(root, 'a/open'), 'changed')
    expect(readFileSync(staged.pathOf(digest) ?? '', 'utf8')).toBe('content')
    expect(at.cache.entries.has(at.cache.keyOf({ digest, executable: false }))).toBe(true)
  },
)

test.each(['link', 'copy'] as const)('the files of a tree are read-only (%s)', async (placement) => {
  using at = await bench({ placement })
  const tree = await putTree(at.store, { 'a.txt': 'content', tool: program('run'), below: { empty: '' } })
  const root = at.room()
  using _ = await at.stage.stage(commandWith(tree), root, never)
  const modes = ['a.txt', 'tool', 'below/empty'].map((path) => (statSync(join(root, path)).mode & 0o777).toString(8))
  expect(modes).toEqual(['444', '555', '444'])
})

test('a file cannot be placed through a symlink of the tree, nor over an existing path', async () => {
  using at = await bench()
  const digest = await putBlob(at.store, 'content')
  const tree = await putTree(at.store, { out: link('/tmp'), there: 'x', folder: { y: 'y' } })
  for (const path of ['out/stolen', 'there', 'folder', 'there/below']) {
    const staging = at.stage.stage(
      commandWith(undefined, { inputs: { root: tree, placed: [placedAt(path, digest)] } }),
      at.room(),
      never,
    )
    await expect(staging).rejects.toMatchObject({ fault: { kind: 'invalid' } })
  }
  expect(existsSync('/tmp/stolen')).toBe(false)
})

test('missing placed files and missing stdin blobs are reported at once', async () => {
  using at = await bench()
  const absent = (digit: string) => ({ fn: 'sha256', hash: digit.repeat(64), size: 4 }) as const
  const wanted = fedWith(commandWith(undefined, { inputs: { placed: [placedAt('a', absent('a'))] } }), absent('b'))
  await expect(at.stage.stage(wanted, at.room(), never)).rejects.toMatchObject({
    fault: { kind: 'missing', digests: [{ hash: absent('a').hash }, { hash: absent('b').hash }] },
  })
})

test('a path that leads out of the inputs is refused before a fetch', async () => {
  using at = await bench()
  const digest = await putBlob(at.store, 'content')
  const wanted = commandWith(undefined, { inputs: { placed: [placedAt('../x', digest)] } })
  await expect(at.stage.stage(wanted, at.room(), never)).rejects.toThrow('leads out of the inputs')
  expect(at.asked).toEqual([])
})
