import { expect, test } from 'vitest'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { directoryToProto } from '../../wire/reapi/directory.ts'
import { measureTree, TREE_LIMITS } from './tree-totals.ts'

const EMPTY = { files: [], directories: [], symlinks: [], properties: undefined }

test('a directory with 200,000 sub-directories is measured', async () => {
  const file = { name: 'x', digest: digestOf('sha256', Buffer.from('x')), executable: false, properties: undefined }
  const below = directoryToProto({ ...EMPTY, files: [file] })
  const digest = digestOf('sha256', below)
  const names = Array.from({ length: 200_000 }, (_, index) => ({ name: `d${index}`, digest }))
  const above = directoryToProto({ ...EMPTY, directories: names })
  const root = digestOf('sha256', above)
  const held = new Map([
    [formatDigest(digest), below],
    [formatDigest(root), above],
  ])
  const { totals } = await measureTree(root, { source: async () => held, trim: undefined, limits: TREE_LIMITS })
  expect(totals).toEqual({ entries: 400_000, bytes: 200_000 })
})
