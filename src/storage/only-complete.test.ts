import { describe, expect, test } from 'vitest'
import type { Digest } from '../base/digest.ts'
import type { ActionResult, OutputDirectory } from '../model/action-result.ts'
import type { Directory } from '../model/directory.ts'
import { actionResultToProto } from '../wire/reapi/action-result.ts'
import { directoryToProto, treeToProto } from '../wire/reapi/directory.ts'
import { actionCacheContract } from './action-cache-contract.ts'
import type { BlobStore } from './blob-store.ts'
import { digestOf, missingOf, putOne } from './blobs.fixture.ts'
import { memoryActionCache } from './memory-action-cache.ts'
import { memoryStore } from './memory-store.ts'
import { onlyComplete } from './only-complete.ts'

const NOTHING: ActionResult = {
  exitCode: 0,
  outputFiles: [],
  outputDirectories: [],
  outputSymlinks: [],
  legacyFileSymlinks: [],
  legacyDirectorySymlinks: [],
  stdout: { digest: undefined, raw: undefined },
  stderr: { digest: undefined, raw: undefined },
  metadata: undefined,
}
const action = digestOf(Buffer.from('an action'))
const output = Buffer.from('an output')
const file = (digest: Digest) => ({ path: 'out', digest, executable: true, contents: undefined, properties: undefined })
const folder = (digests: Partial<OutputDirectory>): OutputDirectory => ({
  path: 'out',
  treeDigest: undefined,
  topologicallySorted: false,
  rootDigest: undefined,
  ...digests,
})
const directory = (files: readonly Digest[], directories: readonly Digest[] = []): Directory => ({
  files: files.map((digest, i) => ({ name: `f${i}`, digest, executable: false, properties: undefined })),
  directories: directories.map((digest, i) => ({ name: `d${i}`, digest })),
  symlinks: [],
  properties: undefined,
})

/** A store with asynchronous replies. */
const elsewhere = (inner: BlobStore): BlobStore => ({
  ...inner,
  missing: async (list, absent) => inner.missing(list, absent),
  readMany: async (list, into) => inner.readMany(list, into),
})

async function isServed(blobs: BlobStore, result: ActionResult | Uint8Array): Promise<boolean> {
  const cache = onlyComplete(blobs)(memoryActionCache())
  const bytes = result instanceof Uint8Array ? result : actionResultToProto(result)
  await cache.put('', action, bytes)
  const found = await cache.get('', action)
  if (found !== undefined) expect(Buffer.from(found).equals(bytes)).toBe(true)
  return found !== undefined
}

// The contract stores arbitrary bytes: an unknown field wraps them, so that they parse as an ActionResult.
actionCacheContract('only complete', () => {
  const cache = onlyComplete(memoryStore())(memoryActionCache())
  const head = (length: number) => {
    const bytes = Buffer.alloc(6, 0x80)
    bytes.writeUInt8(0x7a, 0) // field 15, length-delimited
    for (let i = 0; i < 5; i++) bytes.writeUInt8(((length >>> (7 * i)) & 0x7f) | (i < 4 ? 0x80 : 0), i + 1)
    return bytes
  }
  return {
    put: (instance, name, result) => cache.put(instance, name, Buffer.concat([head(result.length), result])),
    get: async (instance, name) => (await cache.get(instance, name))?.subarray(6),
  }
})

describe.each([
  ['here', (inner: BlobStore) => inner],
  ['elsewhere', elsewhere],
])('onlyComplete with a store that is %s', (_, place) => {
  test('a result without outputs is served, and one with an exit code other than 0 is not', async () => {
    const blobs = place(memoryStore())
    expect(await isServed(blobs, NOTHING)).toBe(true)
    expect(await isServed(blobs, { ...NOTHING, exitCode: 1 })).toBe(false)
    expect(await isServed(blobs, { ...NOTHING, exitCode: -9 })).toBe(false)
  })

  test('a result is served only if its files, stdout and stderr are in the store', async () => {
    const blobs = place(memoryStore())
    const digest = digestOf(output)
    const results: ActionResult[] = [
      { ...NOTHING, outputFiles: [file(digest)] },
      { ...NOTHING, stdout: { digest, raw: undefined } },
      { ...NOTHING, stderr: { digest, raw: undefined } },
    ]
    for (const result of results) expect(await isServed(blobs, result)).toBe(false)
    await putOne(blobs, output)
    for (const result of results) expect(await isServed(blobs, result)).toBe(true)
  })

  test('a result is served only if its trees and their files are in the store', async () => {
    const blobs = place(memoryStore())
    const deep = directory([digestOf(output)])
    const tree = Buffer.from(treeToProto({ root: directory([]), children: [deep] }))
    const result = { ...NOTHING, outputDirectories: [folder({ treeDigest: digestOf(tree) })] }
    expect(await isServed(blobs, result)).toBe(false)
    await putOne(blobs, tree)
    expect(await isServed(blobs, result)).toBe(false)
    await putOne(blobs, output)
    expect(await isServed(blobs, result)).toBe(true)
  })

  test('a result is served only if all Directory blobs below its root are in the store', async () => {
    const blobs = place(memoryStore())
    const leaf = Buffer.from(directoryToProto(directory([digestOf(output)])))
    const middle = Buffer.from(directoryToProto(directory([], [digestOf(leaf)])))
    const root = Buffer.from(directoryToProto(directory([], [digestOf(middle), digestOf(leaf)])))
    const result = { ...NOTHING, outputDirectories: [folder({ rootDigest: digestOf(root) })] }
    for (const blob of [root, middle, leaf, output]) {
      expect(await isServed(blobs, result)).toBe(false)
      await putOne(blobs, blob)
    }
    expect(await isServed(blobs, result)).toBe(true)
  })

  test('a result with an unreadable tree, or an unreadable result, is not served', async () => {
    const blobs = place(memoryStore())
    const treeDigest = await putOne(blobs, Buffer.from('\xff not a tree'))
    expect(await isServed(blobs, { ...NOTHING, outputDirectories: [folder({ treeDigest })] })).toBe(false)
    expect(await isServed(blobs, { ...NOTHING, outputDirectories: [folder({ rootDigest: treeDigest })] })).toBe(false)
    expect(await isServed(blobs, Buffer.from('\xff no result'))).toBe(false)
  })
})

test('serving a result touches its outputs, so that they are not evicted before the client fetches them', async () => {
  const blobs = memoryStore({ maxBytes: 30 })
  const kept = await putOne(blobs, Buffer.alloc(10, 1))
  const other = await putOne(blobs, Buffer.alloc(10, 2))
  expect(await isServed(blobs, { ...NOTHING, outputFiles: [file(kept)] })).toBe(true)
  await putOne(blobs, Buffer.alloc(15, 3))
  expect(await missingOf(blobs, [kept, other])).toEqual([false, true])
})
