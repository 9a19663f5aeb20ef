import { expect, test } from 'vitest'
import { fileLocation, treeLocation } from '../model/cas-location.ts'
import { casStager } from './cas-stager.ts'
import { layOut, type RoomItem } from './lay-out.ts'
import { directoryOf, memoryTrees } from './trees.fixture.ts'

async function room() {
  const trees = memoryTrees()
  const blob = await trees.put(Buffer.from('data'))
  const folder = await trees.putDirectory(
    directoryOf({ files: [{ name: 'x', digest: blob, executable: false, properties: undefined }] }),
  )
  const lay = (...items: readonly RoomItem[]) => layOut(items, { stager: casStager(trees), trees })
  return { trees, blob, folder, lay }
}

test('files are placed by digest, short texts are inlined, and directories become one tree', async () => {
  const { trees, blob, folder, lay } = await room()
  const inputs = await lay(
    { kind: 'file', path: 'in/0/data', location: fileLocation(blob, true), writable: false },
    { kind: 'text', path: 'out/words', contents: 'hello', writable: false },
    { kind: 'tree', path: 'in/1/folder', location: treeLocation(folder), writable: false },
    { kind: 'directory', path: 'out/empty', writable: true },
  )
  expect(inputs.placed).toEqual([{ path: 'in/0/data', digest: blob, executable: true, writable: false }])
  expect(inputs.files).toEqual([{ path: 'out/words', contents: Buffer.from('hello'), executable: false }])
  const root = inputs.root && (await trees.directory(inputs.root))
  expect(root?.directories.map(({ name }) => name)).toEqual(['in', 'out'])
  const [into] = root?.directories ?? []
  const [one] = (into && (await trees.directory(into.digest)))?.directories ?? []
  expect(one && (await trees.directory(one.digest))?.directories).toEqual([{ name: 'folder', digest: folder }])
})

test('a long text is stored as a blob, and a writable tree is placed file by file', async () => {
  const { trees, blob, folder, lay } = await room()
  const { placed, files } = await lay(
    { kind: 'text', path: 'long', contents: 'x'.repeat(20_000), writable: true },
    { kind: 'tree', path: 'out/folder', location: treeLocation(folder), writable: true },
  )
  expect(files).toEqual([])
  expect(placed).toMatchObject([
    { path: 'long', digest: { size: 20_000 }, writable: true },
    { path: 'out/folder/x', digest: blob, writable: true },
  ])
  expect(await trees.has(placed[0]?.digest ?? blob)).toBe(true)
})

test.each<[string, RoomItem]>([
  ['what is not there', { kind: 'file', path: 'a', location: 'file:///etc/passwd', writable: false }],
  ['two things in one place', { kind: 'text', path: 'b', contents: '', writable: false }],
])('%s is refused', async (_, item) => {
  const { lay } = await room()
  const other: RoomItem = { kind: 'text', path: 'b', contents: 'first', writable: false }
  await expect(lay(other, item)).rejects.toThrow(/is not there|two inputs have the path b/)
})
