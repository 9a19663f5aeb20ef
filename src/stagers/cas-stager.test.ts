import { expect, test } from 'vitest'
import { fileLocation, treeLocation } from '../model/cas-location.ts'
import { casStager } from './cas-stager.ts'
import { stagerContract } from './contract.ts'
import { directoryOf, memoryTrees } from './trees.fixture.ts'

stagerContract('cas:', async () => {
  const trees = memoryTrees()
  return { trees, stager: casStager(trees), to: 'cas:' }
})

async function tree() {
  const trees = memoryTrees()
  const blob = await trees.put(Buffer.from('data'))
  const below = await trees.putDirectory(
    directoryOf({ files: [{ name: 'x', digest: blob, executable: true, properties: undefined }] }),
  )
  const root = await trees.putDirectory(directoryOf({ directories: [{ name: 'a b', digest: below }] }))
  return { stager: casStager(trees), blob, below, root }
}

test('find returns blobs, directories, and entries of directories', async () => {
  const { stager, blob, below, root } = await tree()
  expect(await stager.find(fileLocation(blob))).toEqual({ kind: 'file', digest: blob, executable: false })
  expect(await stager.find(treeLocation(root))).toEqual({ kind: 'directory', digest: root })
  expect(await stager.find(`${treeLocation(root)}/a%20b`)).toEqual({ kind: 'directory', digest: below })
  expect(await stager.find(`${treeLocation(root)}/a%20b/x`)).toEqual({ kind: 'file', digest: blob, executable: true })
})

test('find returns undefined for absent blobs, paths below a file, and other schemes', async () => {
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

test('named returns the digest in a location, also of an absent blob', async () => {
  const { stager, blob, root } = await tree()
  expect(stager.named(fileLocation(blob, true))).toEqual({ kind: 'file', digest: blob })
  expect(stager.named(`${treeLocation(root)}/no/such/entry`)).toEqual({ kind: 'directory', digest: root })
})
