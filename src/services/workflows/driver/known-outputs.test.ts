import { expect, test } from 'vitest'
import { digestOf } from '../../../base/hashing/hash-of.ts'
import type { CommandOutputs } from '../../../model/command-task.ts'
import type { Directory } from '../../../model/directory.ts'
import { directoryToProto } from '../../../wire/reapi/directory.ts'
import { recognizeOutputs } from './known-outputs.ts'
import { type PlainBlobs, treeStore } from './tree-blobs.ts'

const digest = digestOf('sha256', Buffer.from('x'))
const file = (path: string) => ({ path, digest, executable: false })
const node = (name: string) => ({ name, digest, executable: false, properties: undefined })
const directory = (parts: Partial<Directory>): Directory => ({
  ...{ files: [], directories: [], symlinks: [], properties: undefined },
  ...parts,
})
const rootOf = (one: Directory) => digestOf('sha256', directoryToProto(one))
const outputs = (more: Partial<CommandOutputs>): CommandOutputs => ({
  ...{ root: undefined, files: [], symlinks: [], problem: undefined },
  ...more,
})

/** A store that holds nothing, and counts its reads. */
function emptyStore() {
  const asked = { reads: 0 }
  const blobs: PlainBlobs = {
    has: async () => false,
    async read() {
      asked.reads += 1
      return undefined
    },
    async put() {},
  }
  return { asked, trees: treeStore(blobs, 'sha256') }
}

test('a directory of files in one folder is known without a read', async () => {
  const { asked, trees } = emptyStore()
  const made = directory({ files: [node('a'), node('b')] })
  recognizeOutputs(outputs({ root: rootOf(made), files: [file('a'), file('b')] }), trees)
  expect(await trees.directory(rootOf(made))).toEqual(made)
  expect(asked.reads).toBe(0)
})

test.each([
  [
    'an empty directory lies beside them',
    directory({ files: [node('a')], directories: [{ name: 'd', digest }] }),
    ['a'],
  ],
  ['one of them lies deeper', directory({ files: [node('d/a')] }), ['d/a']],
  ['one comes twice', directory({ files: [node('a'), node('a')] }), ['a', 'a']],
  ['the names are others', directory({ files: [node('a')] }), ['b']],
])('a directory that cannot be derived from its files is read: %s', async (_, made, paths) => {
  const { asked, trees } = emptyStore()
  recognizeOutputs(outputs({ root: rootOf(made), files: paths.map(file) }), trees)
  expect(await trees.directory(rootOf(made))).toBeUndefined()
  expect(asked.reads).toBe(1)
})
