import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ACCIDENTS, aFunction, damaged, encodedAs, judged, orRefused, REAPI } from '../messages/messages.fixture.ts'
import { aDirectory } from './action-result.fixture.ts'
import { directoryFromProto, directoryToProto, treeFromProto, treeToProto } from './directory.ts'

const digest = { hash: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae', sizeBytes: 3 }

test('a Directory round-trips', () => {
  const both = aFunction.chain((fn) => aDirectory(fn).map((directory) => ({ fn, directory })))
  fc.assert(
    fc.property(both, ({ fn, directory }) => {
      expect(directoryFromProto(directoryToProto(directory), fn)).toEqual(directory)
    }),
  )
})

test('a Tree round-trips', () => {
  const aTree = fc.record({ root: aDirectory('sha1'), children: fc.array(aDirectory('sha1'), { maxLength: 3 }) })
  fc.assert(
    fc.property(aTree, (tree) => {
      expect(treeFromProto(treeToProto(tree), 'sha1')).toEqual(tree)
    }),
  )
})

test('a damaged Directory is refused, or another parser reads it too', () => {
  fc.assert(
    fc.property(damaged(aDirectory('sha256').map(directoryToProto)), (bytes) => {
      const read = orRefused(() => directoryFromProto(bytes, 'sha256'))
      if (read !== undefined) expect(judged(`${REAPI}.Directory`, bytes).files).toHaveLength(read.files.length)
      orRefused(() => treeFromProto(bytes, 'sha256'))
    }),
    { numRuns: ACCIDENTS },
  )
})

test('nodes are sorted by the bytes of their names, so that equal content gives equal messages', () => {
  const file = (name: string) =>
    ({
      name,
      digest: { fn: 'sha256', hash: digest.hash, size: 3 },
      executable: false,
      properties: undefined,
    }) as const
  const bytes = directoryToProto({
    files: ['b', '\u{1f600}', 'a', '\uffee'].map(file),
    directories: [],
    symlinks: [],
    properties: undefined,
  })
  expect(directoryFromProto(bytes, 'sha256').files.map(({ name }) => name)).toEqual(['a', 'b', '\uffee', '\u{1f600}'])
})

test.each<[string, proto.DeepPartial<proto.Directory>, string]>([
  ['a way out of the room', { files: [{ name: '../x', digest }] }, 'the name "../x" has a slash in it'],
  ['the parent', { directories: [{ name: '..', digest }] }, 'the name ".." is ".."'],
  ['no name', { symlinks: [{ target: 'x' }] }, 'the name "" is empty'],
  ['one name twice', { files: [{ name: 'a', digest }], symlinks: [{ name: 'a' }] }, 'the name "a" comes twice'],
  ['a file without a digest', { files: [{ name: 'a' }] }, 'the file a has no digest'],
  ['a directory without a digest', { directories: [{ name: 'a' }] }, 'the directory a has no digest'],
])('a Directory with %s is refused', (_, directory, message) => {
  expect(() => directoryFromProto(encodedAs(proto.Directory, directory), 'sha256')).toThrow(message)
})

test('a Tree without a root is refused', () => {
  expect(() => treeFromProto(new Uint8Array(), 'sha256')).toThrow('a tree has no root')
})
