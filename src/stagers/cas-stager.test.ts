import { expect, test } from 'vitest'
import { fileLocation, treeLocation } from '../model/cas-location.ts'
import { casStager } from './cas-stager.ts'
import { directoryOf, memoryTrees } from './trees.fixture.ts'

async function tree() {
  const trees = memoryTrees()
  const blob = await trees.put(Buffer.from('data'))
  const below = await trees.putDirectory(
    directoryOf({ files: [{ name: 'x', digest: blob, executable: true, properties: undefined }] }),
  )
  const root = await trees.putDirectory(directoryOf({ directories: [{ name: 'a b', digest: below }] }))
  return { stager: casStager(trees), blob, below, root }
}

test('finds blobs, directories, and what is in them', async () => {
  const { stager, blob, below, root } = await tree()
  expect(await stager.find(fileLocation(blob))).toEqual({ kind: 'file', digest: blob, executable: false })
  expect(await stager.find(treeLocation(root))).toEqual({ kind: 'directory', digest: root })
  expect(await stager.find(`${treeLocation(root)}/a%20b`)).toEqual({ kind: 'directory', digest: below })
  expect(await stager.find(`${treeLocation(root)}/a%20b/x`)).toEqual({ kind: 'file', digest: blob, executable: true })
})

test('does not find what is not held, what lies below a file, and what is elsewhere', async () => {
  const { stager, root } = await tree()
  const absent = { fn: 'sha256', hash: 'cd'.repeat(32), size: 1 } as const
  for (const location of [
    fileLocation(absent),
    treeLocation(absent),
    `${treeLocation(root)}/a%20b/x/y`,
    `${treeLocation(root)}/c`,
    'file:///etc/passwd',
    'http://127.0.0.1/',
  ])
    expect(await stager.find(location), location).toBeUndefined()
})
