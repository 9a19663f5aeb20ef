import { expect, test } from 'vitest'
import { digestListOf } from '../../base/digest-list.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { flatTree, type MadeDirectory } from '../../testing/large-trees.ts'
import { turnsDuring } from '../../testing/turns-during.ts'
import {
  directoryBytes as directory,
  type ResultParts,
  resultBytes,
  type TreeParts,
  treeBytes as tree,
} from '../../wire/reapi/reapi-messages.fixture.ts'
import { memoryStore } from '../memory-store.ts'
import { checkResult, hasSoundOutputs } from './result-check.ts'

const named = (bytes: Uint8Array) => {
  const { hash, size } = digestOf('sha256', bytes)
  return { hash, sizeBytes: size }
}
const digest = named(Buffer.from('content'))

/** The problem of a result in a store with these blobs; undefined for a valid result. */
async function problemOf(parts: ResultParts, blobs: readonly Uint8Array[] = [], mayClimb = 0) {
  const store = memoryStore()
  await store.writeMany(
    digestListOf(
      'sha256',
      blobs.map((blob) => digestOf('sha256', blob)),
    ),
    blobs,
  )
  return await checkResult(resultBytes(parts), { fn: 'sha256', blobs: store, mayClimb }).then(
    () => undefined,
    (error: Error) => error.message,
  )
}

const files = (...paths: string[]): ResultParts => ({
  outputFiles: paths.map((path) => ({ path, digest })),
})
const link = (path: string, target = 'x') => ({ path, target })

test.each<[string, ResultParts, RegExp]>([
  ['an absolute file', files('/etc/passwd'), /"\/etc\/passwd" is absolute/],
  ['a file outside', files('../x'), /leads out of the working directory/],
  ['a file outside by a detour', files('a/../../x'), /leads out of the working directory/],
  ['a NUL', files('a\0b'), /has a NUL in it/],
  ['an empty path', files(''), /is empty/],
  ['a path of dots', files('./.'), /is empty/],
  ['a file that comes twice', files('a', 'a'), /comes twice/],
  ['a file that comes twice in other words', files('a/b', 'a//./b'), /comes twice/],
  ['a file below a file', files('a', 'a/b'), /lies below the output "a", which is no directory/],
  ['a file below a symlink', { ...files('a/b'), outputSymlinks: [link('a', '/etc')] }, /lies below the output "a"/],
  ['a file and a symlink', { ...files('a'), outputSymlinks: [link('a')] }, /comes twice/],
  ['a symlink outside', { outputSymlinks: [link('../a')] }, /leads out of the working directory/],
  ['a symlink without a target', { outputSymlinks: [link('a', '')] }, /has the target ""/],
  ['a symlink to a NUL', { outputFileSymlinks: [link('a', 'b\0c')] }, /has the target/],
  ['a legacy symlink twice', { outputFileSymlinks: [link('a')], outputDirectorySymlinks: [link('a')] }, /comes twice/],
  ['a directory outside', { outputDirectories: [{ path: 'a/../..', treeDigest: digest }] }, /leads out/],
  ['an absolute directory', { outputDirectories: [{ path: '/a', treeDigest: digest }] }, /is absolute/],
  ['other bytes as stdout', { stdoutRaw: Buffer.from('another'), stdoutDigest: digest }, /stdout: the 7 inline bytes/],
  ['fewer bytes as stderr', { stderrRaw: Buffer.from('cont'), stderrDigest: digest }, /stderr: the 4 inline bytes/],
  [
    'other bytes as a file',
    { outputFiles: [{ path: 'a', digest, contents: Buffer.from('another') }] },
    /the output "a": the 7 inline bytes/,
  ],
  [
    'many other bytes as stdout',
    { stdoutRaw: Buffer.alloc(200_000), stdoutDigest: { ...digest, sizeBytes: 200_000 } },
    /stdout: the 200000 inline bytes/,
  ],
])('a result with %s is refused', async (_, parts, problem) => {
  expect(await problemOf(parts)).toMatch(problem)
  expect(await hasSoundOutputs(resultBytes(parts), 'sha256')).toBe(false)
})

const large = Buffer.alloc(200_000, 7)

test.each<[string, ResultParts]>([
  ['files beside each other', files('a', 'b/c', 'b/d', '..a', 'b/..c')],
  ['a file in an output directory', { ...files('a/b'), outputDirectories: [{ path: 'a', treeDigest: digest }] }],
  ['the working directory as output', { outputDirectories: [{ path: '', treeDigest: digest }] }],
  ['a symlink that leads out', { outputSymlinks: [link('a', '../../b'), link('c', '/usr')] }],
  ['a symlink for new and old clients', { outputSymlinks: [link('a')], outputFileSymlinks: [link('a')] }],
  ['inline content', { stdoutRaw: Buffer.from('content'), stdoutDigest: digest }],
  ['inline content without a digest', { stderrRaw: Buffer.from('other') }],
  ['much inline content', { stdoutRaw: large, stdoutDigest: named(large) }],
])('a result with %s is accepted', async (_, parts) => {
  expect(await problemOf(parts)).toBeUndefined()
  expect(await hasSoundOutputs(resultBytes(parts), 'sha256')).toBe(true)
})

test('an output path may climb mayClimb levels and no further', async () => {
  expect(await problemOf(files('../../x'), [], 2)).toBeUndefined()
  expect(await problemOf(files('../../x'), [], 1)).toMatch(/leads out of the working directory/)
})

const child = { files: [{ name: 'f', digest }] }
const inner = directory(child)
const outer = { directories: [{ name: 'd', digest: named(inner) }] }
const innermost = { files: [{ name: 'g', digest }] }
const middle = { directories: [{ name: 'e', digest: named(directory(innermost)) }] }
const top = { directories: [{ name: 'd', digest: named(directory(middle)) }] }

test.each<[string, TreeParts, RegExp]>([
  ['a name with a slash', { root: { files: [{ name: 'a/b', digest }] } }, /has a slash in it/],
  [
    'a name that climbs',
    { root: { directories: [{ name: '..', digest: named(inner) }] }, children: [child] },
    /is ".."/,
  ],
  ['an empty name', { root: { symlinks: [{ name: '', target: 'x' }] } }, /is empty/],
  ['a NUL in a name', { root: { files: [{ name: 'a\0', digest }] } }, /has a NUL in it/],
  [
    'a name that comes twice',
    { root: { files: [{ name: 'a', digest }], symlinks: [{ name: 'a', target: 'x' }] } },
    /comes twice/,
  ],
  ['a bad name below the root', { root: {}, children: [{ files: [{ name: '.', digest }] }] }, /is "."/],
  ['a symlink without a target', { root: { symlinks: [{ name: 'a', target: '' }] } }, /has the target ""/],
  ['an absent child', { root: outer }, /is referred to but not contained/],
  ['no root', { children: [child] }, /it has no root/],
])('an output tree with %s is refused', async (_, parts, problem) => {
  const bytes = tree(parts)
  expect(await problemOf({ outputDirectories: [{ path: 'out', treeDigest: named(bytes) }] }, [bytes])).toMatch(problem)
})

test('an output tree must match the topological order and root digest that its result states', async () => {
  const sorted = tree({ root: top, children: [middle, innermost] })
  const unsorted = tree({ root: top, children: [innermost, middle] })
  const out = (treeBytes: Uint8Array, more: object) =>
    problemOf({ outputDirectories: [{ path: 'out', treeDigest: named(treeBytes), ...more }] }, [treeBytes])
  expect(await out(sorted, { isTopologicallySorted: true })).toBeUndefined()
  expect(await out(unsorted, {})).toBeUndefined()
  expect(await out(unsorted, { isTopologicallySorted: true })).toMatch(/topologically sorted, and it is not/)
  expect(await out(sorted, { rootDirectoryDigest: named(directory(top)) })).toBeUndefined()
  expect(await out(sorted, { rootDirectoryDigest: named(inner) })).toMatch(/names the root/)
})

test('Directory blobs of an output directory are checked if they are in the store', async () => {
  const bad = directory({ files: [{ name: '../x', digest }] })
  const root = directory({ directories: [{ name: 'd', digest: named(bad) }] })
  const parts = { outputDirectories: [{ path: 'out', rootDirectoryDigest: named(root) }] }
  expect(await problemOf(parts, [root, bad])).toMatch(/has a slash in it/)
  expect(await problemOf(parts, [root])).toBeUndefined()
})

test('an output tree over 64 MiB is refused without reading it', async () => {
  const treeDigest = { ...digest, sizeBytes: 2 ** 40 }
  expect(await problemOf({ outputDirectories: [{ path: 'out', treeDigest }] })).toMatch(/more than 67108864 bytes/)
})

test('the event loop takes other work while an output directory of 20,000 directories is checked', async () => {
  const all = flatTree(20_000)
  const root = all.at(-1) as MadeDirectory
  const result = { outputDirectories: [{ path: 'a', rootDirectoryDigest: named(root.bytes) }] }
  const blobs = all.map(({ bytes }) => bytes)
  const checked = problemOf(result, blobs)
  // One turn per 64 KiB of entries in the root, and one per 256 directories.
  expect(await turnsDuring(checked)).toBeGreaterThan(root.bytes.length / 65_536 + 20_000 / 256 - 2)
  expect(await checked).toBeUndefined()
})
