import { expect, test } from 'vitest'
import { put } from '../../storage/blobs.fixture.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { flatTree, type MadeDirectory } from '../../testing/large-trees.ts'
import { turnsDuring } from '../../testing/turns-during.ts'
import { missingInputs } from './missing-inputs.ts'

const CHILDREN = 20_000
const tree = flatTree(CHILDREN)
const root = tree.at(-1) as MadeDirectory
const limits = { maxDirectories: CHILDREN + 1, maxFiles: 1 }

async function storeOf(directories: readonly MadeDirectory[]) {
  const blobs = memoryStore()
  await put(blobs, ...directories.map(({ bytes }) => bytes))
  return blobs
}

test('other calls run after each 256 directories, and after each 1,024 names in one directory', async () => {
  const blobs = await storeOf(tree)
  const turns = await turnsDuring(missingInputs([], root.digest, { blobs, limits }))
  expect(turns).toBeGreaterThan(CHILDREN / 256 + CHILDREN / 1024 - 2)
})

test('a tree above maxDirectories is refused after its root was read', async () => {
  const inner = await storeOf(tree)
  let read = 0
  const blobs: typeof inner = {
    ...inner,
    readMany(list, into) {
      read += list.count
      return inner.readMany(list, into)
    },
  }
  const fewer = { ...limits, maxDirectories: CHILDREN }
  await expect(missingInputs([], root.digest, { blobs, limits: fewer })).rejects.toThrow('more than 20000 directories')
  expect(read).toBe(1)
})

test('the walk ends when its call is cancelled', async () => {
  const inner = await storeOf(tree)
  const call = { cancelled: false }
  let reads = 0
  const blobs: typeof inner = {
    ...inner,
    readMany(list, into) {
      reads++
      call.cancelled = reads === 3
      return inner.readMany(list, into)
    },
  }
  await expect(missingInputs([], root.digest, { blobs, limits, call })).rejects.toMatchObject({
    fault: { kind: 'cancelled' },
  })
  expect(reads).toBe(3)
})

test('a directory above 16 MiB is refused without being read', async () => {
  const huge = { ...root.digest, size: 16 * 1024 * 1024 + 1 }
  await expect(missingInputs([], huge, { blobs: memoryStore(), limits })).rejects.toThrow(
    /larger than the limit of 16777216 bytes/,
  )
})
