import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Directory, Tree } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import {
  ACCIDENTS,
  aFunction,
  amid,
  damaged,
  digestsIn,
  encodedAs,
  orRefused,
  orUnread,
  REAPI,
} from '../messages/messages.fixture.ts'
import { aDirectory } from '../reapi/action-result.fixture.ts'
import { directoryToProto, treeToProto } from '../reapi/directory.ts'
import { directoryReferences, References, treeReferences } from './digest-reader.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const aCase = aFunction.chain((fn) =>
  fc.array(aDirectory(fn), { minLength: 1, maxLength: 3 }).map((all) => ({ fn, all })),
)

test('directoryReferences finds the digests of files and directories', () => {
  fc.assert(
    fc.property(aCase, ({ fn, all }) => {
      for (const directory of all) {
        const references = directoryReferences(amid(directoryToProto(directory)), fn)
        expect(digestsIn(references.fileDigests())).toEqual(directory.files.map(({ digest }) => digest))
        expect(digestsIn(references.directoryDigests())).toEqual(directory.directories.map(({ digest }) => digest))
      }
    }),
  )
})

test('treeReferences finds the files of all directories of a tree', () => {
  fc.assert(
    fc.property(aCase, ({ fn, all: [root, ...children] }) => {
      if (root === undefined) return
      const references = treeReferences(amid(treeToProto({ root, children })), fn)
      const files = [root, ...children].flatMap((directory) => directory.files.map(({ digest }) => digest))
      expect(digestsIn(references.fileDigests())).toEqual(files)
    }),
  )
})

test('References accumulates the digests of many messages', () => {
  fc.assert(
    fc.property(aCase, ({ fn, all }) => {
      const references = new References(fn)
      for (const directory of all) references.addDirectory(directoryToProto(directory))
      for (const root of all) for (const _ of references.addTree(treeToProto({ root, children: [] })));
      const files = all.flatMap((directory) => directory.files.map(({ digest }) => digest))
      expect(digestsIn(references.fileDigests())).toEqual([...files, ...files])
    }),
  )
})

describe('References of damaged bytes', () => {
  const asProto = (list: ReturnType<References['fileDigests']>) =>
    digestsIn(list).map(({ hash, size }) => ({ hash, sizeBytes: BigInt(size) }))

  test('are refused, or the same as another parser finds', () => {
    fc.assert(
      fc.property(damaged(aDirectory('sha256').map(directoryToProto)), (bytes) => {
        const references = orRefused(() => directoryReferences(amid(bytes), 'sha256'))
        if (references === undefined) return
        const theirs = orUnread(`${REAPI}.Directory`, bytes)
        if (theirs === undefined) return // malformed in a part that we do not read, such as a file name
        const digests = (nodes: unknown) => (nodes as { digest: object }[]).map(({ digest }) => digest)
        expect(digests(theirs.files)).toMatchObject(asProto(references.fileDigests()))
        expect(digests(theirs.directories)).toMatchObject(asProto(references.directoryDigests()))
      }),
      { numRuns: ACCIDENTS },
    )
  })

  test('of a tree are refused or read, without another error', () => {
    const tree = aDirectory('sha256').map((root) => treeToProto({ root, children: [root] }))
    fc.assert(
      fc.property(damaged(tree), (bytes) => orRefused(() => treeReferences(amid(bytes), 'sha256')) !== null),
      { numRuns: ACCIDENTS },
    )
  })
})

test('a node without a digest, or with a digest of another function, is refused', () => {
  const file = encodedAs(Directory, { files: [{ name: 'a' }] })
  expect(() => directoryReferences(file, 'sha256')).toThrow('a digest has no hash')
  const tree = encodedAs(Tree, { root: {}, children: [{ directories: [{ name: 'a', digest: { hash: HASH } }] }] })
  expect(() => treeReferences(tree, 'sha1')).toThrow('a hash has 64 digits, but the others have 40')
})

test('bytes that are not a Directory or Tree are refused as malformed', () => {
  expect(() => directoryReferences(Buffer.from('#!/bin/sh\n'), 'sha256')).toThrow('malformed Directory')
  expect(() => treeReferences(Buffer.from('{"a": 1}'), 'sha256')).toThrow('malformed Tree')
})
