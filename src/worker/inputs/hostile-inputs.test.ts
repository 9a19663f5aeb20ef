import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { doublingDirectories, type MadeDirectory } from '../../testing/large-trees.ts'
import { turnsDuring } from '../../testing/turns-during.ts'
import { directoryToProto } from '../../wire/reapi/directory.ts'
import { putBlob, putTree } from '../trees.fixture.ts'
import type { BlobSource } from './blob-source.ts'
import { directoryCache } from './directory-cache.ts'
import { planInputs } from './input-plan.ts'
import { bench, bulk, commandWith, never } from './stage-inputs.fixture.ts'
import { storeSource } from './store-source.ts'

afterAll(() => bulk.close())

describe('hostile input tree', () => {
  const node = (name: string) => ({
    name,
    digest: digestOf('sha256', Buffer.from('x')),
    executable: false,
    properties: undefined,
  })
  const empty = { files: [], directories: [], symlinks: [], properties: undefined }

  test.each(['..', '.', '', 'a/b', '/abs', 'a\0b', '../../etc/passwd'])(
    'the name %j is refused as invalid',
    async (name) => {
      using at = await bench()
      await putBlob(at.store, 'x')
      const root = await putBlob(at.store, directoryToProto({ ...empty, files: [node(name)] }))
      const room = at.room()
      await expect(at.stage.stage(commandWith(root), room, never)).rejects.toMatchObject({ fault: { kind: 'invalid' } })
      expect(readdirSync(room)).toEqual([])
    },
  )

  test('a name used for a file and for a symlink is refused', async () => {
    using at = await bench()
    await putBlob(at.store, 'x')
    const symlinks = [{ name: 'a', target: '/tmp/elsewhere', properties: undefined }]
    const root = await putBlob(at.store, directoryToProto({ ...empty, files: [node('a')], symlinks }))
    await expect(at.stage.stage(commandWith(root), at.room(), never)).rejects.toThrow('comes twice')
  })

  test('a symlink with an empty target or a NUL is refused, and an absolute one where these are disallowed', async () => {
    using at = await bench({ more: { rules: { mostNodes: 100, absoluteSymlinks: 'disallowed' } } })
    for (const target of ['', 'a\0b', '/etc']) {
      const root = await putBlob(
        at.store,
        directoryToProto({ ...empty, symlinks: [{ name: 'l', target, properties: undefined }] }),
      )
      await expect(at.stage.stage(commandWith(root), at.room(), never), target).rejects.toMatchObject({
        fault: { kind: 'invalid' },
      })
    }
  })

  test('a tree of more than 10,000 files is refused', async () => {
    using at = await bench()
    let digest = await putTree(at.store, { x: 'x' })
    for (let i = 0; i < 60; i++) {
      const directories = ['l', 'r'].map((name) => ({ name, digest }))
      digest = await putBlob(at.store, directoryToProto({ ...empty, directories }))
    }
    await expect(at.stage.stage(commandWith(digest), at.room(), never)).rejects.toThrow('more than 10000 files')
  })

  test('a tree of 2^90 files is refused after one read of each of its directories', async () => {
    using at = await bench({ more: { rules: { mostNodes: 2 ** 52, absoluteSymlinks: 'allowed' } } })
    const all = doublingDirectories(90)
    for (const { bytes } of all) await putBlob(at.store, bytes)
    const { digest } = all.at(-1) as MadeDirectory
    await expect(at.stage.stage(commandWith(digest), at.room(), never)).rejects.toThrow(`more than ${2 ** 52} files`)
    expect(at.asked.length).toBe(all.length)
  })

  test('a name of 300 bytes and bytes that are no Directory are refused as invalid', async () => {
    using at = await bench()
    const long = await putTree(at.store, { ['n'.repeat(300)]: 'x' })
    await expect(at.stage.stage(commandWith(long), at.room(), never)).rejects.toMatchObject({
      fault: { kind: 'invalid' },
    })
    const garbage = await putBlob(at.store, randomBytes(50))
    await expect(at.stage.stage(commandWith(garbage), at.room(), never)).rejects.toMatchObject({
      fault: { kind: 'invalid' },
    })
  })
})

describe('planning of a large tree', () => {
  const planned = (store: BlobStore, made: readonly MadeDirectory[]) => {
    const cache = directoryCache(storeSource(store), 1 << 20)
    const rules = { mostNodes: 1_000_000, absoluteSymlinks: 'allowed' } as const
    return planInputs((made.at(-1) as MadeDirectory).digest, { cache, rules }, never)
  }

  test('planning lets other work of the worker run', async () => {
    using at = await bench()
    const all = doublingDirectories(16)
    for (const { bytes } of all) await putBlob(at.store, bytes)
    const plan = planned(at.store, all)
    expect(await turnsDuring(plan)).toBeGreaterThan(1000)
    expect((await plan).directories.length).toBe(2 ** 17 - 1)
  })

  test('a directory with 200,000 subdirectories is planned', async () => {
    using at = await bench()
    const [leaf] = doublingDirectories(0) as [MadeDirectory]
    const directories = Array.from({ length: 200_000 }, (_, index) => ({ name: `d${index}`, digest: leaf.digest }))
    const bytes = directoryToProto({ files: [], directories, symlinks: [], properties: undefined })
    for (const each of [leaf.bytes, bytes]) await putBlob(at.store, each)
    const plan = await planned(at.store, [{ bytes, digest: digestOf('sha256', bytes) }])
    expect(plan.directories.length).toBe(200_001)
  })
})

describe('missing inputs', () => {
  test('all missing digests are reported at once: files, large files and directories', async () => {
    using at = await bench()
    const digest = (text: string): Digest => digestOf('sha256', Buffer.from(text))
    const large = { ...digest('large'), size: 5_000_000 }
    const bytes = directoryToProto({
      files: [
        { name: 'a', digest: digest('a'), executable: false, properties: undefined },
        { name: 'b', digest: digest('a'), executable: true, properties: undefined },
        { name: 'large', digest: large, executable: false, properties: undefined },
        { name: 'there', digest: await putBlob(at.store, 'there'), executable: false, properties: undefined },
      ],
      directories: [{ name: 'sub', digest: digest('sub') }],
      symlinks: [],
      properties: undefined,
    })
    const failed = await at.stage
      .stage(commandWith(await putBlob(at.store, bytes)), at.room(), never)
      .catch((error) => error)
    expect(failed.fault.kind).toBe('missing')
    const told = failed.fault.digests.map(formatDigest).sort()
    expect(told).toEqual([digest('a'), digest('sub'), large].map(formatDigest).sort())
  })

  test('a missing root is reported', async () => {
    using at = await bench()
    const root = digestOf('sha256', Buffer.from('nobody has this'))
    await expect(at.stage.stage(commandWith(root), at.room(), never)).rejects.toMatchObject({
      fault: { kind: 'missing', digests: [root] },
    })
  })
})

test.each([200, 400_000])('bytes that do not match their digest do not enter the cache (%i bytes)', async (size) => {
  const lying = (source: BlobSource): BlobSource => {
    const spoil = (bytes: Uint8Array): Buffer => {
      const other = Buffer.from(bytes)
      if (other.length === size) other[size - 1] = (other[size - 1] as number) ^ 1
      return other
    }
    return {
      ...source,
      readMany: async (digests, signal) =>
        new Map([...(await source.readMany(digests, signal))].map(([key, bytes]) => [key, spoil(bytes)])),
      async read(digest, signal) {
        const pieces = await source.read(digest, signal)
        return (async function* () {
          for await (const piece of pieces ?? []) yield spoil(piece)
        })()
      },
    }
  }
  using at = await bench({ wrap: lying })
  const root = await putTree(at.store, { a: randomBytes(size) })
  await expect(at.stage.stage(commandWith(root), at.room(), never)).rejects.toThrow('do not match its digest')
  expect(at.cache.entries.bytes).toBe(0)
  expect(readdirSync(join(at.folder, 'cache/parts'))).toEqual([])
})
