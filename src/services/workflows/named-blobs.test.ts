import { expect, test } from 'vitest'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { fileLocation, treeLocation } from '../../model/cas-location.ts'
import { casStager } from '../../stagers/cas-stager.ts'
import { memoryTrees } from '../../stagers/trees.fixture.ts'
import { blobsNamedBy, digestsIn, filesIn } from './named-blobs.ts'

const digest = (text: string) => digestOf('sha256', Buffer.from(text))
const file = (text: string) => ({ class: 'File', location: fileLocation(digest(text)) })

const folder = { class: 'Directory', location: treeLocation(digest('folder')) }
const outputs = { a: file('one'), list: [{ ...file('two'), secondaryFiles: [file('three')] }, file('one'), folder] }

test('files are listed at any depth, without directories', () => {
  const stager = casStager(memoryTrees())
  expect(filesIn(outputs, stager)).toEqual(['one', 'two', 'three', 'one'].map(digest))
  expect(digestsIn(outputs, stager)).toEqual(['one', 'two', 'three', 'one', 'folder'].map(digest))
})

test('locations of other schemes name no blob, and blobs that the store lacks are missing', async () => {
  const trees = memoryTrees()
  await trees.put(Buffer.from('one'))
  const value = [file('one'), file('two'), { class: 'File', location: 's3://bucket/key' }]
  expect(await blobsNamedBy(value, { trees, stager: casStager(trees) })).toEqual({
    held: [digest('one')],
    missing: [digest('two')],
  })
})
