import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { CommandTask, TaskAction } from '../../model/command-task.ts'
import type { Directory } from '../../model/directory.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { directoryFromProto, directoryToProto, treeFromProto } from '../../wire/reapi/directory.ts'
import { actionTask, type Wanted, wanting } from '../tasks.fixture.ts'
import { scratch } from '../trees.fixture.ts'
import type { OutputBlob } from './blob-target.ts'
import { collectOutputs } from './collect-outputs.ts'
import type { Collected } from './output-collector.ts'

const bulk = threadPool(1)
afterAll(() => bulk.close())
const never = new AbortController().signal
const rules = { mostNodes: 1000, mostBytes: 1 << 30, absoluteSymlinks: 'allowed' as const }

interface More extends Partial<Pick<TaskAction, 'directoryFormat' | 'properties'>> {
  readonly globs?: readonly string[]
}

function commandWanting(wanted: Wanted, { globs = [], ...action }: More = {}, workingDirectory = ''): CommandTask {
  const { outputs, action: typed } = wanting(wanted)
  return actionTask({ workingDirectory, outputs: { ...outputs, globs }, action: { ...typed, ...action } })
}

const any = (...paths: string[]): Wanted => ({ kind: 'any', paths })
const collect = (root: string, task: CommandTask, more = rules): Promise<Collected> =>
  collectOutputs({ task, root }, { bulk, rules: more }, never)

/** A room with these files. */
function roomWith(files: Readonly<Record<string, string | Uint8Array>>) {
  const room = scratch()
  for (const [path, content] of Object.entries(files)) {
    const isEmpty = path.endsWith('/.')
    mkdirSync(isEmpty ? join(room.path, path) : dirname(join(room.path, path)), { recursive: true })
    if (!isEmpty) writeFileSync(join(room.path, path), content)
  }
  return room
}

const digest = (content: string | Uint8Array): Digest => digestOf('sha256', Buffer.from(content))
const blobOf = ({ blobs }: Collected, wanted: Digest | undefined): OutputBlob =>
  blobs.find((blob) => wanted !== undefined && formatDigest(blob.digest) === formatDigest(wanted)) as OutputBlob

test('files are returned with their digests, large ones too, and absent paths are omitted', async () => {
  const large = randomBytes(700_000)
  using room = roomWith({ 'w/small': 'small', 'w/large': large, 'w/empty': '', 'w/sub/x': 'x', beside: 'b' })
  chmodSync(join(room.path, 'w/small'), 0o755)
  const wanted = any('small', 'large', 'empty', 'sub/x', '../beside', 'absent', 'absent/too', 'small/below', 'small')
  const collected = await collect(room.path, commandWanting(wanted, {}, 'w'))
  expect(collected.outputs.outputFiles).toEqual([
    { path: 'small', digest: digest('small'), executable: true, contents: undefined, properties: undefined },
    { path: 'large', digest: digest(large), executable: false, contents: undefined, properties: undefined },
    { path: 'empty', digest: digest(''), executable: false, contents: undefined, properties: undefined },
    { path: 'sub/x', digest: digest('x'), executable: false, contents: undefined, properties: undefined },
    { path: '../beside', digest: digest('b'), executable: false, contents: undefined, properties: undefined },
  ])
  const blob = blobOf(collected, digest(large))
  expect(Buffer.compare(Buffer.from(await blob.whole()), large)).toBe(0)
  expect(collected.blobs).toHaveLength(5)
})

describe('output directories', () => {
  const files = { 'out/a/x': '1', 'out/b/x': '1', 'out/c/deep/x': '1', 'out/top': 't', 'out/nothing/.': '' }

  test('a directory becomes a Tree: parents before children, equal children once, empty directories included', async () => {
    using room = roomWith(files)
    symlinkSync('../top', join(room.path, 'out/a/up'))
    const collected = await collect(room.path, commandWanting(any('out')))
    const [output] = collected.outputs.outputDirectories
    expect(output).toMatchObject({ path: 'out', topologicallySorted: true, rootDigest: undefined })
    const tree = treeFromProto(await blobOf(collected, output?.treeDigest).whole(), 'sha256')
    expect(tree.root.directories.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'nothing'])
    const known = new Map(tree.children.map((child, i) => [formatDigest(digest(directoryToProto(child))), i]))
    expect(known.size).toBe(tree.children.length)
    for (const [i, child] of tree.children.entries())
      for (const each of child.directories) expect(known.get(formatDigest(each.digest))).toBeGreaterThan(i)
    expect(tree.children).toHaveLength(4) // a, b (= c/deep), c, nothing
    expect(tree.children.find(({ symlinks }) => symlinks.length > 0)?.symlinks[0]).toMatchObject({
      name: 'up',
      target: '../top',
    })
  })

  test('a directory becomes one Directory message per level for the format directories or both', async () => {
    using room = roomWith(files)
    for (const directoryFormat of ['directories', 'both'] as const) {
      const collected = await collect(room.path, commandWanting(any('out'), { directoryFormat }))
      const [output] = collected.outputs.outputDirectories
      expect(output?.treeDigest === undefined).toBe(directoryFormat === 'directories')
      const read = async (at: Digest): Promise<number> => {
        const directory: Directory = directoryFromProto(await blobOf(collected, at).whole(), 'sha256')
        const below = await Promise.all(directory.directories.map((child) => read(child.digest)))
        return directory.files.length + below.reduce((sum, each) => sum + each, 0)
      }
      expect(await read(output?.rootDigest as Digest)).toBe(4)
    }
  })

  test('the whole working directory can be an output', async () => {
    using room = roomWith({ 'w/a': '1', 'w/b/c': '2', outside: '3' })
    const collected = await collect(room.path, commandWanting({ kind: 'typed', files: [], directories: [''] }, {}, 'w'))
    const [output] = collected.outputs.outputDirectories
    expect(output?.path).toBe('')
    const tree = treeFromProto(await blobOf(collected, output?.treeDigest).whole(), 'sha256')
    expect([tree.root.files.map(({ name }) => name), tree.children.length]).toEqual([['a'], 1])
  })
})

describe('output symlinks', () => {
  test('a symlink stays a symlink, in output_symlinks and in the two older fields', async () => {
    using room = roomWith({ 'd/f': 'x' })
    symlinkSync('d/f', join(room.path, 'to-file'))
    symlinkSync('d', join(room.path, 'to-directory'))
    symlinkSync('nowhere', join(room.path, 'dangling'))
    symlinkSync('/etc/passwd', join(room.path, 'away'))
    const { outputs } = await collect(room.path, commandWanting(any('to-file', 'to-directory', 'dangling', 'away')))
    const pairs = (links: typeof outputs.outputSymlinks) => links.map(({ path, target }) => `${path} ${target}`)
    expect(pairs(outputs.outputSymlinks)).toEqual([
      'to-file d/f',
      'to-directory d',
      'dangling nowhere',
      'away /etc/passwd',
    ])
    expect(pairs(outputs.legacyFileSymlinks)).toEqual(['to-file d/f', 'dangling nowhere', 'away /etc/passwd'])
    expect(pairs(outputs.legacyDirectorySymlinks)).toEqual(['to-directory d'])
    expect(outputs.outputFiles).toEqual([])
  })

  test('a symlink requested in output_files is in the older field only, and must lead to the requested type', async () => {
    using room = roomWith({ 'd/f': 'x' })
    symlinkSync('d/f', join(room.path, 'l'))
    const { outputs } = await collect(room.path, commandWanting({ kind: 'typed', files: ['l'], directories: [] }))
    expect([outputs.outputSymlinks.length, outputs.legacyFileSymlinks.length]).toEqual([0, 1])
    const wrong = collect(room.path, commandWanting({ kind: 'typed', files: [], directories: ['l'] }))
    await expect(wrong).rejects.toThrow('was to be a directory and is a file')
  })

  test('an absolute symlink is refused where these are disallowed, also inside a directory', async () => {
    using room = roomWith({ 'd/f': 'x' })
    symlinkSync('/etc', join(room.path, 'd/away'))
    for (const path of ['d', 'd/away'])
      await expect(
        collect(room.path, commandWanting(any(path)), { ...rules, absoluteSymlinks: 'disallowed' as 'allowed' }),
      ).rejects.toThrow('absolute symlink')
  })

  test('a symlink among the parents is followed inside the room and refused when it leads out', async () => {
    using room = roomWith({ 'real/f': 'inside' })
    using elsewhere = roomWith({ secret: 'not yours' })
    symlinkSync('real', join(room.path, 'alias'))
    symlinkSync(elsewhere.path, join(room.path, 'out'))
    symlinkSync('loop', join(room.path, 'loop'))
    const { outputs } = await collect(room.path, commandWanting(any('alias/f', 'loop/x')))
    expect(outputs.outputFiles.map(({ path }) => path)).toEqual(['alias/f'])
    await expect(collect(room.path, commandWanting(any('out/secret')))).rejects.toThrow('leads out of the room')
    const { blobs } = await collect(room.path, commandWanting(any('out', ''), { globs: ['**'] }))
    const contents = await Promise.all(blobs.map(async (blob) => Buffer.from(await blob.whole()).toString()))
    expect(contents.some((each) => each.includes('not yours'))).toBe(false)
  })
})

test('a directory requested as a file, or a file as a directory, is refused', async () => {
  using room = roomWith({ 'd/f': 'x' })
  const typed = (files: string[], directories: string[]) =>
    collect(room.path, commandWanting({ kind: 'typed', files, directories }))
  await expect(typed(['d'], [])).rejects.toThrow('was to be a file and is a directory')
  await expect(typed([], ['d/f'])).rejects.toThrow('was to be a directory and is a file')
  expect((await typed(['d/f'], ['d'])).outputs).toMatchObject({
    outputFiles: [{ path: 'd/f' }],
    outputDirectories: [{ path: 'd' }],
  })
})

describe('node properties', () => {
  test('mtime and unixMode are returned when requested', async () => {
    using room = roomWith({ 'd/f': 'x' })
    chmodSync(join(room.path, 'd/f'), 0o751)
    utimesSync(join(room.path, 'd/f'), 1e9, 1e9 + 0.25)
    const collected = await collect(room.path, commandWanting(any('d/f', 'd'), { properties: ['mtime', 'unixMode'] }))
    const expected = { named: [], mtime: { seconds: 1_000_000_000, nanos: 250_000_000 }, unixMode: 0o751 }
    expect(collected.outputs.outputFiles[0]?.properties).toEqual(expected)
    const tree = treeFromProto(
      await blobOf(collected, collected.outputs.outputDirectories[0]?.treeDigest).whole(),
      'sha256',
    )
    expect(tree.root.files[0]?.properties).toEqual(expected)
    expect(tree.root.properties?.unixMode).toBe(0o755)
  })

  test('an mtime before 1970 has positive nanoseconds', async () => {
    using room = roomWith({ f: 'x' })
    utimesSync(join(room.path, 'f'), '-2.75', '-2.75')
    const { outputs } = await collect(room.path, commandWanting(any('f'), { properties: ['mtime'] }))
    expect(outputs.outputFiles[0]?.properties?.mtime).toEqual({ seconds: -3, nanos: 250_000_000 })
  })
})

test('patterns match files below the working directory', async () => {
  using room = roomWith({ 'w/a.log': '1', 'w/b/c.log': '2', 'w/b/d.txt': '3', 'other.log': '4' })
  const { outputs } = await collect(room.path, commandWanting(any('a.log'), { globs: ['**/*.log', '*.log'] }, 'w'))
  expect(outputs.outputFiles.map(({ path }) => path)).toEqual(['a.log', 'b/c.log'])
})

describe('refused output files', () => {
  test('a pipe is refused, and is not opened', async () => {
    using room = roomWith({ 'd/f': 'x' })
    execFileSync('mkfifo', [join(room.path, 'd/pipe')])
    for (const path of ['d', 'd/pipe'])
      await expect(collect(room.path, commandWanting(any(path)))).rejects.toThrow('neither a file')
  })

  test('a name that is not UTF-8 is refused', async () => {
    using room = roomWith({ 'd/f': 'x' })
    writeFileSync(Buffer.concat([Buffer.from(`${room.path}/d/`), Buffer.from([0xff, 0xfe])]), '')
    await expect(collect(room.path, commandWanting(any('d')))).rejects.toThrow('not UTF-8')
  })

  test('more than mostNodes files and a sparse file of 1 TiB are refused', async () => {
    using room = roomWith(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`d/${i}`, 'x'])))
    await expect(collect(room.path, commandWanting(any('d')), { ...rules, mostNodes: 20 })).rejects.toThrow(
      'more than 20 files',
    )
    writeFileSync(join(room.path, 'sparse'), '')
    truncateSync(join(room.path, 'sparse'), 2 ** 40)
    await expect(collect(room.path, commandWanting(any('sparse')))).rejects.toThrow('bytes')
  })

  test('a path that leads out of the room is invalid', async () => {
    using room = roomWith({})
    for (const path of ['/etc/passwd', '../x', 'a/../../x'])
      await expect(collect(room.path, commandWanting(any(path)))).rejects.toMatchObject({ fault: { kind: 'invalid' } })
  })
})
