import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { directoryToProto } from '../../wire/reapi/directory.ts'
import { putBlob, putTree } from '../trees.fixture.ts'
import type { BlobSource } from './blob-source.ts'
import { bench, bulk, commandWith, never } from './stage-inputs.fixture.ts'

afterAll(() => bulk.close())

describe('a hostile tree is refused:', () => {
  const node = (name: string) => ({
    name,
    digest: digestOf('sha256', Buffer.from('x')),
    executable: false,
    properties: undefined,
  })
  const empty = { files: [], directories: [], symlinks: [], properties: undefined }

  test.each(['..', '.', '', 'a/b', '/abs', 'a\0b', '../../etc/passwd'])('the name %j', async (name) => {
    using at = await bench()
    await putBlob(at.store, 'x')
    const root = await putBlob(at.store, directoryToProto({ ...empty, files: [node(name)] }))
    const room = at.room()
    await expect(at.stage.stage(commandWith(root), room, never)).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    expect(readdirSync(room)).toEqual([])
  })

  test('a name twice, as a file and as a symlink that it would be written through', async () => {
    using at = await bench()
    await putBlob(at.store, 'x')
    const symlinks = [{ name: 'a', target: '/tmp/elsewhere', properties: undefined }]
    const root = await putBlob(at.store, directoryToProto({ ...empty, files: [node('a')], symlinks }))
    await expect(at.stage.stage(commandWith(root), at.room(), never)).rejects.toThrow('comes twice')
  })

  test('a symlink to nowhere, or absolute where that is not allowed', async () => {
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

  test('a few messages that name more files than there is room for', async () => {
    using at = await bench()
    let digest = await putTree(at.store, { x: 'x' })
    for (let i = 0; i < 60; i++) {
      const directories = ['l', 'r'].map((name) => ({ name, digest }))
      digest = await putBlob(at.store, directoryToProto({ ...empty, directories }))
    }
    await expect(at.stage.stage(commandWith(digest), at.room(), never)).rejects.toThrow('more than 10000 files')
  })

  test('a name that is too long, and bytes that are no Directory', async () => {
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

describe('what is missing', () => {
  test('is told whole: files, large files and directories', async () => {
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

  test('and the root itself', async () => {
    using at = await bench()
    const root = digestOf('sha256', Buffer.from('nobody has this'))
    await expect(at.stage.stage(commandWith(root), at.room(), never)).rejects.toMatchObject({
      fault: { kind: 'missing', digests: [root] },
    })
  })
})

test.each([200, 400_000])('bytes that are not the blob do not get into the cache (%i of them)', async (size) => {
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
  await expect(at.stage.stage(commandWith(root), at.room(), never)).rejects.toThrow('other bytes came')
  expect(at.cache.shelf.bytes).toBe(0)
  expect(readdirSync(join(at.folder, 'cache/parts'))).toEqual([])
})
