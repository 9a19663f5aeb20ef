import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { formatDigest } from '../../base/digest-text.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { wanting } from '../tasks.fixture.ts'
import { fileWith, link, program, putBlob, putTree, scratch, type TreeSpec } from '../trees.fixture.ts'
import type { BlobSource } from './blob-source.ts'
import { openFileCache } from './file-cache.ts'
import { safePlacement } from './place-inputs.ts'
import { bench, bulk, commandWith, never } from './stage-inputs.fixture.ts'
import { inputStage } from './stage-inputs.ts'
import { storeSource } from './store-source.ts'

afterAll(() => bulk.close())

describe.each(['link', 'copy'] as const)('input tree (placed by %s)', (placement) => {
  test('a tree is staged with files, programs, empty directories and symlinks', async () => {
    using at = await bench({ placement })
    const big = randomBytes(700_000)
    const root = await putTree(at.store, {
      'a.txt': 'A',
      empty: '',
      'run.sh': program('#!/bin/sh\n'),
      both: '#!/bin/sh\n',
      big,
      sub: { deep: { 'b.txt': 'B', up: link('../../a.txt') }, nothing: {} },
      'name with "quotes"\nand lines \u{1f600}': 'odd',
    })
    const room = at.room()
    using _held = await at.stage.stage(commandWith(root), room, never)
    expect(readFileSync(join(room, 'a.txt'), 'utf8')).toBe('A')
    expect(readFileSync(join(room, 'empty'), 'utf8')).toBe('')
    expect(Buffer.compare(readFileSync(join(room, 'big')), big)).toBe(0)
    expect(statSync(join(room, 'run.sh')).mode & 0o111).toBe(0o111)
    expect(statSync(join(room, 'both')).mode & 0o111).toBe(0)
    expect(readlinkSync(join(room, 'sub/deep/up'))).toBe('../../a.txt')
    expect(readFileSync(join(room, 'sub/deep/up'), 'utf8')).toBe('A')
    expect(readdirSync(join(room, 'sub/nothing'))).toEqual([])
    expect(readFileSync(join(room, 'name with "quotes"\nand lines \u{1f600}'), 'utf8')).toBe('odd')
    expect(statSync(join(room, 'a.txt')).nlink).toBe(placement === 'link' ? 2 : 1)
    if (placement === 'link') expect(statSync(join(room, 'a.txt')).mode & 0o777).toBe(0o444)
  })

  test('times and modes are set only where the tree has them, without setuid', async () => {
    using at = await bench({ placement })
    const properties = { named: [], mtime: { seconds: 1_000_000_000, nanos: 500_000_000 }, unixMode: 0o4640 }
    const root = await putTree(at.store, { dated: fileWith('same', properties), plain: 'same' })
    const room = at.room()
    using _held = await at.stage.stage(commandWith(root), room, never)
    const dated = statSync(join(room, 'dated'))
    expect([dated.mtimeMs, dated.mode & 0o7777]).toEqual([1_000_000_000_500, 0o640]) // no setuid bit
    expect(statSync(join(room, 'plain')).mtimeMs).not.toBe(dated.mtimeMs)
    const old = { named: [], mtime: { seconds: -3, nanos: 250_000_000 }, unixMode: undefined }
    const again = at.room()
    using _more = await at.stage.stage(commandWith(await putTree(at.store, { old: fileWith('x', old) })), again, never)
    expect(statSync(join(again, 'old')).mtimeMs).toBe(-2750)
  })

  test('a tree that is cached is not fetched again, nor are its directories', async () => {
    using at = await bench({ placement })
    const root = await putTree(at.store, { a: 'x', b: { c: 'y', d: program('y') } })
    using _one = await at.stage.stage(commandWith(root), at.room(), never)
    const before = at.asked.length
    using _other = await at.stage.stage(commandWith(root), at.room(), never)
    expect(at.asked.length).toBe(before)
    expect(new Set(at.asked).size).toBe(before) // each blob was fetched once the first time
  })

  test('a tree staged by eight attempts at once is fetched once', async () => {
    using at = await bench({ placement })
    const root = await putTree(at.store, { a: randomBytes(1000), b: { c: randomBytes(400_000) } })
    const rooms = Array.from({ length: 8 }, at.room)
    const held = await Promise.all(rooms.map((room) => at.stage.stage(commandWith(root), room, never)))
    const files = at.asked.filter((digest) => Number(digest.split('/')[1]) >= 1000)
    expect(files).toHaveLength(2)
    for (const room of rooms) expect(statSync(join(room, 'b/c')).size).toBe(400_000)
    for (const each of held) each[Symbol.dispose]()
  })
})

test('a command that changes a copied input does not change the cache', async () => {
  using at = await bench({ placement: 'copy' })
  const root = await putTree(at.store, { a: 'as it was' })
  const room = at.room()
  using _held = await at.stage.stage(commandWith(root), room, never)
  writeFileSync(join(room, 'a'), 'changed')
  const again = at.room()
  using _more = await at.stage.stage(commandWith(root), again, never)
  expect(readFileSync(join(again, 'a'), 'utf8')).toBe('as it was')
})

test('inputs are hard-linked only when commands run as another user who is not root', () => {
  expect(safePlacement(undefined, 1000)).toBe('copy')
  expect(safePlacement({ uid: 1000, gid: 1 }, 1000)).toBe('copy')
  expect(safePlacement({ uid: 0, gid: 0 }, 1000)).toBe('copy')
  expect(safePlacement({ uid: 2000, gid: 1 }, 0)).toBe('link')
})

describe('output directories', () => {
  test('the parents of outputs are created, but not the output directories', async () => {
    using at = await bench()
    const root = await putTree(at.store, { work: {} })
    const room = at.room()
    const command = commandWith(root, {
      workingDirectory: 'work',
      ...wanting({ kind: 'typed', files: ['out/a/file', '../beside/x'], directories: ['gen/dir'] }),
    })
    using _held = await at.stage.stage(command, room, never)
    expect(existsSync(join(room, 'work/out/a'))).toBe(true)
    expect(existsSync(join(room, 'beside'))).toBe(true)
    expect(readdirSync(join(room, 'work/gen'))).toEqual([])
  })

  test.each(['/etc/x', '../x', 'a/../../x', 'a\0b'])('an output at %j is invalid', async (path) => {
    using at = await bench()
    const command = commandWith(undefined, wanting({ kind: 'any', paths: [path] }))
    await expect(at.stage.stage(command, at.room(), never)).rejects.toMatchObject({ fault: { kind: 'invalid' } })
  })

  test('no directory is created through a symlink of the inputs', async () => {
    using at = await bench()
    using elsewhere = scratch()
    const root = await putTree(at.store, { out: link(elsewhere.path) })
    const command = commandWith(root, wanting({ kind: 'any', paths: ['out/made/file'] }))
    using _held = await at.stage.stage(command, at.room(), never)
    expect(readdirSync(elsewhere.path)).toEqual([])
  })
})

describe('inline files', () => {
  test('an inline file is written beside the tree, and is invalid at a path of the tree', async () => {
    using at = await bench()
    const root = await putTree(at.store, { a: 'tree' })
    const files = [{ path: 'src/main.py', contents: Buffer.from('print(1)'), executable: true }]
    const room = at.room()
    using _held = await at.stage.stage(commandWith(root, { inputs: { root, files } }), room, never)
    expect(readFileSync(join(room, 'src/main.py'), 'utf8')).toBe('print(1)')
    const over = [{ path: 'a', contents: Buffer.from('x'), executable: false }]
    const clash = at.stage.stage(commandWith(root, { inputs: { root, files: over } }), at.room(), never)
    await expect(clash).rejects.toMatchObject({ fault: { kind: 'invalid' } })
  })
})

describe('file cache', () => {
  const tree = (seed: number): TreeSpec =>
    Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, `${seed}-${i}-`.padEnd(1000, 'x')]))

  test('the cache keeps to its limit, but evicts no file of a room in use', async () => {
    using at = await bench({ maxBytes: 15_000 })
    const first = at.room()
    const held = await at.stage.stage(commandWith(await putTree(at.store, tree(1))), first, never)
    const more = await at.stage.stage(commandWith(await putTree(at.store, tree(2))), at.room(), never)
    expect(at.cache.entries.bytes).toBe(20_000)
    more[Symbol.dispose]()
    expect(at.cache.entries.bytes).toBe(15_000)
    expect(readFileSync(join(first, 'f0'), 'utf8')).toBe('1-0-'.padEnd(1000, 'x'))
    held[Symbol.dispose]()
    const files = readdirSync(join(at.folder, 'cache/sha256'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('-'),
    )
    expect(files).toHaveLength(15)
  })

  test('the cache is read again after its worker was killed, and unfinished files are deleted', async () => {
    using at = await bench()
    const root = await putTree(at.store, { a: 'kept', b: program('kept too') })
    using _held = await at.stage.stage(commandWith(root), at.room(), never)
    writeFileSync(join(at.folder, 'cache/parts/7'), 'half')
    const again = await openFileCache(join(at.folder, 'cache'), 1 << 20)
    expect(again.entries.bytes).toBe('kept'.length + 'kept too'.length)
    expect(readdirSync(join(at.folder, 'cache/parts'))).toEqual([])
  })

  test('the cache is discarded after a restart of the machine', async () => {
    using at = await bench()
    const root = await putTree(at.store, { a: 'perhaps never written' })
    using _held = await at.stage.stage(commandWith(root), at.room(), never)
    const note = join(at.folder, 'cache/note.json')
    writeFileSync(note, JSON.stringify({ boot: 'another', isClean: false }))
    expect((await openFileCache(join(at.folder, 'cache'), 1 << 20)).entries.bytes).toBe(0)
  })

  test('a cached file of the wrong size is discarded', async () => {
    using at = await bench()
    const root = await putTree(at.store, { a: 'whole' })
    using _held = await at.stage.stage(commandWith(root), at.room(), never)
    const [name] = readdirSync(join(at.folder, 'cache/sha256'), { recursive: true, encoding: 'utf8' }).filter((each) =>
      each.includes('-'),
    )
    const path = join(at.folder, 'cache/sha256', name as string)
    chmodSync(path, 0o644)
    truncateSync(path, 2)
    chmodSync(path, 0o444)
    expect((await openFileCache(join(at.folder, 'cache'), 1 << 20)).entries.bytes).toBe(0)
  })

  test('all files are released when staging fails or is cancelled', async () => {
    using at = await bench({ maxBytes: 0 })
    const abort = new AbortController()
    const root = await putTree(at.store, tree(3))
    abort.abort(new Error('enough'))
    await expect(at.stage.stage(commandWith(root), at.room(), abort.signal)).rejects.toThrow('enough')
    const clash = { root, files: [{ path: 'f0', contents: Buffer.from('x'), executable: false }] }
    await expect(at.stage.stage(commandWith(root, { inputs: clash }), at.room(), never)).rejects.toThrow()
    expect(at.cache.entries.bytes).toBe(0)
  })
})

describe('two instances with one cache', () => {
  /** Another instance, with its own store. */
  const beside = (at: Awaited<ReturnType<typeof bench>>) => {
    const store = memoryStore()
    const asked: number[] = []
    const plain = storeSource(store)
    const source: BlobSource = {
      ...plain,
      missing(digests, signal) {
        asked.push(digests.length)
        return plain.missing(digests, signal)
      },
      readMany(digests, signal) {
        asked.push(-digests.length)
        return plain.readMany(digests, signal)
      },
    }
    const rules = { mostNodes: 10_000, absoluteSymlinks: 'allowed' } as const
    const options = {
      source,
      cache: at.cache,
      bulk,
      placement: 'link',
      user: undefined,
      rules,
      directoryBytes: 1,
    } as const
    return { store, asked, stage: inputStage(options) }
  }

  test('an instance gets no cached file that its own store lacks, executable or not', async () => {
    using at = await bench()
    const secret = await putTree(at.store, { key: 'secret', tool: program('secret too') })
    using _first = await at.stage.stage(commandWith(secret), at.room(), never)
    const other = beside(at)
    const elsewhere = memoryStore()
    const stolen = await putTree(elsewhere, { key: 'secret', tool: program('secret too'), plain: 'secret too' })
    const message = (await storeSource(elsewhere).readMany([stolen], never)).get(formatDigest(stolen))
    await putBlob(other.store, message ?? '') // the digests without their blobs
    const staged = other.stage.stage(commandWith(stolen), at.room(), never)
    await expect(staged).rejects.toMatchObject({ fault: { kind: 'missing', digests: { length: 2 } } })
  })

  test('a file that both instances have is fetched once, and its presence is queried once', async () => {
    using at = await bench()
    const tree = { a: 'same', tool: program('tool'), sub: { b: 'other' } }
    using _first = await at.stage.stage(commandWith(await putTree(at.store, tree)), at.room(), never)
    const other = beside(at)
    const root = await putTree(other.store, { ...tree, more: 'fresh' })
    for (let i = 0; i < 3; i++) {
      const room = at.room()
      using _held = await other.stage.stage(commandWith(root), room, never)
      expect(readFileSync(join(room, 'sub/b'), 'utf8')).toBe('other')
    }
    expect(other.asked.filter((count) => count > 0)).toEqual([3])
  })
})
