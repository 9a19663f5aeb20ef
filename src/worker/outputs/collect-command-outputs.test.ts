import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import {
  type CommandOutputs,
  type CommandTaskOutputs,
  commandTaskOf,
  type RoomPlace,
  toCommandResult,
} from '../../model/command-task.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { directoryFromProto } from '../../wire/reapi/directory.ts'
import { scratch } from '../trees.fixture.ts'
import type { OutputBlob } from './blob-target.ts'
import { collectOutputs } from './collect-outputs.ts'

const bulk = threadPool(1)
afterAll(() => bulk.close())
const never = new AbortController().signal
const NO_STREAM = { digest: undefined, raw: undefined }
const NO_RUN = { exitCode: 0, stdout: NO_STREAM, stderr: NO_STREAM, stages: [], metadata: undefined }
const rules = { mostNodes: 2000, mostBytes: 1 << 30, absoluteSymlinks: 'allowed' } as const

/** The outputs as snippets and steps read them. */
interface CollectedCommandOutputs {
  readonly outputs: CommandOutputs
  readonly blobs: readonly OutputBlob[]
}

/** A room with these files, beside a file outside of the room that must not be readable. */
function roomWith(fill: (at: (path: string) => string) => void) {
  const folder = scratch()
  const root = join(folder.path, 'root')
  mkdirSync(root)
  writeFileSync(join(folder.path, 'secret'), 'secret')
  fill((path) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    return join(root, path)
  })
  return {
    async collect(
      outputs: Partial<CommandTaskOutputs>,
      workingDirectory = '',
      places: readonly RoomPlace[] = [],
    ): Promise<CollectedCommandOutputs> {
      const task = commandTaskOf({ stages: [{ name: 'run', argv: ['true'] }], outputs, workingDirectory, places })
      const collected = await collectOutputs({ task, root }, { bulk, rules }, never)
      return { outputs: toCommandResult({ ...NO_RUN, ...collected.outputs }).outputs, blobs: collected.blobs }
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

const filled = (...paths: string[]) =>
  roomWith((at) => {
    for (const path of paths) writeFileSync(at(path), path)
  })

const pathsOf = ({ outputs }: CollectedCommandOutputs): string[] => {
  expect(outputs.problem).toBeUndefined()
  return outputs.files.map(({ path }) => path)
}

/** All paths below the directory digest. */
async function treeOf({ outputs, blobs }: CollectedCommandOutputs): Promise<string[]> {
  const held = new Map(blobs.map((blob) => [formatDigest(blob.digest), blob]))
  const walk = async (digest: Digest, path: string): Promise<string[]> => {
    const bytes = await held.get(formatDigest(digest))?.whole()
    if (bytes === undefined) throw new Error(`${path} is not among the blobs`)
    const { files, directories, symlinks } = directoryFromProto(bytes, 'sha256')
    const below = await Promise.all(directories.map(({ name, digest: one }) => walk(one, `${path}${name}/`)))
    return [
      ...files.map(({ name, digest: one }) => `${path}${name}${held.has(formatDigest(one)) ? '' : ' (lost)'}`),
      ...symlinks.map(({ name, target }) => `${path}${name} -> ${target}`),
      ...(directories.length + files.length + symlinks.length === 0 ? [path] : []),
      ...below.flat(),
    ]
  }
  return outputs.root === undefined ? [] : (await walk(outputs.root, '')).sort()
}

test('paths are relative to the working directory, directories are collected whole, and absent paths are omitted', async () => {
  using room = roomWith((at) => {
    writeFileSync(at('w/a.txt'), 'a')
    writeFileSync(at('w/d/b'), 'b', { mode: 0o755 })
    mkdirSync(at('w/d/empty'))
    writeFileSync(at('elsewhere'), 'x')
  })
  const collected = await room.collect({ paths: ['a.txt', 'd', 'd/b', 'none'] }, 'w')
  expect(collected.outputs.files).toEqual([
    { path: 'a.txt', digest: digestOf('sha256', Buffer.from('a')), executable: false },
    { path: 'd/b', digest: digestOf('sha256', Buffer.from('b')), executable: true },
  ])
  expect(await treeOf(collected)).toEqual(['a.txt', 'd/b', 'd/empty/'])
})

test('without requested outputs, or without matches, no outputs and no blobs are collected', async () => {
  using room = filled('a')
  const nothing = { root: undefined, files: [], symlinks: [], problem: undefined }
  expect(await room.collect({})).toEqual({ outputs: nothing, blobs: [] })
  expect(await room.collect({ paths: ['b'], globs: ['*.c'] })).toEqual({ outputs: nothing, blobs: [] })
})

test.each<[string[], string[]]>([
  [['*.txt'], ['a.txt']],
  [['**/*.txt'], ['a.txt', 'd/b.txt', 'd/e/c.txt']],
  [['d/*.txt'], ['d/b.txt']],
  [['d'], ['d/.hidden', 'd/b.txt', 'd/e/c.txt']],
  [['*'], ['a.txt', 'd/.hidden', 'd/b.txt', 'd/e/c.txt', 'x.o']],
  [['**'], ['a.txt', 'd/b.txt', 'd/e/c.txt', 'x.o']],
  [['d/**'], ['d/b.txt', 'd/e/c.txt']],
  [
    ['?.[a-o]', 'd/e'],
    ['d/e/c.txt', 'x.o'],
  ],
])('the patterns %j match %j', async (globs, expected) => {
  using room = filled('a.txt', 'x.o', 'd/b.txt', 'd/e/c.txt', 'd/.hidden', '.top')
  expect(pathsOf(await room.collect({ globs }))).toEqual(expected)
})

test('a pattern without ** does not enter directories below its depth, so a huge directory costs nothing', async () => {
  using room = roomWith((at) => {
    for (let i = 0; i < 3000; i++) writeFileSync(at(`many/${i}`), '')
    writeFileSync(at('out.txt'), 'x')
  })
  expect(pathsOf(await room.collect({ globs: ['*.txt'] }))).toEqual(['out.txt'])
  expect((await room.collect({ globs: ['**/*.txt'] })).outputs.problem).toContain(
    'more than 2000 files and directories',
  )
})

test('a pattern with 1,000 wildcards is matched in bounded time', async () => {
  using room = filled(`${'a'.repeat(200)}`)
  expect(pathsOf(await room.collect({ globs: [`${'*a'.repeat(1000)}b`, `${'**/'.repeat(1000)}b`] }))).toEqual([])
})

test('__proto__, -rf, spaces and line breaks are valid file names', async () => {
  using room = filled('__proto__', 'constructor/toString', ' ', '-rf', 'a\nb')
  const collected = await room.collect({ globs: ['**'] })
  expect(pathsOf(collected)).toEqual([' ', '-rf', '__proto__', 'a\nb', 'constructor/toString'])
  expect(await treeOf(collected)).toEqual([' ', '-rf', '__proto__', 'a\nb', 'constructor/toString'])
})

describe('symlinks', () => {
  const linked = () =>
    roomWith((at) => {
      writeFileSync(at('real/file'), 'content')
      symlinkSync('real/file', at('to-file'))
      symlinkSync('real', at('to-directory'))
      symlinkSync('/etc/passwd', at('passwd'))
      symlinkSync('../secret', at('climbing'))
      symlinkSync('climbing', at('two-steps'))
      symlinkSync('nowhere', at('dangling'))
      symlinkSync('loop', at('loop'))
      symlinkSync('../real', at('real/round'))
    })

  test.each(['to-file', 'to-directory', 'passwd', 'climbing'])(
    "symlinks: 'refuse' refuses the symlink %s",
    async (path) => {
      using room = linked()
      const { outputs, blobs } = await room.collect({ paths: [path] })
      expect(outputs).toMatchObject({ root: undefined, files: [], problem: `the output "${path}" is a symlink` })
      expect(blobs).toEqual([])
    },
  )

  test("symlinks: 'keep' keeps relative symlinks unchanged", async () => {
    using room = linked()
    const collected = await room.collect({ paths: ['to-file', 'to-directory', 'dangling'], symlinks: 'keep' })
    expect(collected.outputs.symlinks).toEqual([
      { path: 'dangling', target: 'nowhere' },
      { path: 'to-directory', target: 'real' },
      { path: 'to-file', target: 'real/file' },
    ])
    expect(await treeOf(collected)).toEqual(['dangling -> nowhere', 'to-directory -> real', 'to-file -> real/file'])
  })

  test.each(['passwd', 'climbing'])(
    "symlinks: 'keep' refuses a symlink that leads out of the outputs: %s",
    async (path) => {
      using room = linked()
      const { outputs } = await room.collect({ paths: [path], symlinks: 'keep' })
      expect(outputs.problem).toContain('is a symlink that leads out of the outputs')
    },
  )

  test("symlinks: 'follow' collects the targets", async () => {
    using room = roomWith((at) => {
      writeFileSync(at('real/file'), 'content')
      symlinkSync('real/file', at('to-file'))
      symlinkSync('real', at('to-directory'))
    })
    const collected = await room.collect({ globs: ['to-*'], symlinks: 'follow' })
    expect(pathsOf(collected)).toEqual(['to-directory/file', 'to-file'])
    expect(await treeOf(collected)).toEqual(['to-directory/file', 'to-file'])
  })

  test.each([
    ['passwd', 'leads nowhere, or out of the room'],
    ['climbing', 'leads nowhere, or out of the room'],
    ['two-steps', 'leads nowhere, or out of the room'],
    ['dangling', 'leads nowhere, or out of the room'],
    ['loop', 'leads nowhere, or out of the room'],
    ['real', 'contains itself through a symlink'],
  ])("symlinks: 'follow' refuses a symlink out of the room, a dangling one and a loop: %s", async (path, words) => {
    using room = linked()
    const { outputs, blobs } = await room.collect({ paths: [path], symlinks: 'follow' })
    expect(outputs.problem).toContain(words)
    expect(blobs).toEqual([])
  })

  test.each(['keep', 'follow', 'refuse'] as const)(
    'a parent directory that is a symlink out of the room is refused (%s)',
    async (symlinks) => {
      using room = roomWith((at) => symlinkSync('..', at('out')))
      const { outputs } = await room.collect({ paths: ['out/secret'], symlinks })
      expect(outputs.problem).toContain('lies behind a symlink that leads out of the room')
    },
  )

  test('patterns do not enter symlinks', async () => {
    using room = roomWith((at) => {
      writeFileSync(at('real/file'), '')
      symlinkSync('real', at('link'))
      symlinkSync('/', at('slash'))
    })
    expect(pathsOf(await room.collect({ globs: ['**/file', '*/passwd', 'slash/etc/passwd'] }))).toEqual(['real/file'])
  })

  test('a path behind a kept symlink is refused', async () => {
    using room = linked()
    const { outputs } = await room.collect({ paths: ['to-directory', 'to-directory/file'], symlinks: 'keep' })
    expect(outputs.problem).toContain('lies behind another that is no directory')
  })
})

describe('special files and limits', () => {
  test('a special file is refused when it matches, and ignored otherwise', async () => {
    using room = roomWith((at) => {
      execFileSync('mkfifo', [at('pipe')])
      writeFileSync(at('a.txt'), '')
    })
    expect(pathsOf(await room.collect({ globs: ['**/*.txt'] }))).toEqual(['a.txt'])
    const { outputs } = await room.collect({ globs: ['*'] })
    expect(outputs.problem).toBe('the output "pipe" is neither a file nor a directory nor a symlink')
  })

  test('more than mostFiles files, more than mostBytes bytes and a sparse file of 1 TiB are refused', async () => {
    using room = roomWith((at) => {
      for (let i = 0; i < 5; i++) writeFileSync(at(`f${i}`), 'xxxxx')
      writeFileSync(at('sparse'), '')
      truncateSync(at('sparse'), 2 ** 40)
    })
    expect(pathsOf(await room.collect({ globs: ['f*'], mostFiles: 5, mostBytes: 25 }))).toHaveLength(5)
    expect((await room.collect({ globs: ['f*'], mostFiles: 4 })).outputs.problem).toBe(
      'the outputs are more than 4 files',
    )
    expect((await room.collect({ globs: ['f*'], mostBytes: 24 })).outputs.problem).toBe(
      'the outputs have more than 24 bytes',
    )
    expect((await room.collect({ paths: ['sparse'] })).outputs.problem).toContain('more than 1073741824 bytes')
  })

  test('a file name that is not UTF-8 and the reserved name .windlass are refused', async () => {
    using room = roomWith((at) => {
      writeFileSync(at('.windlass/run.stdout'), 'forged')
      mkdirSync(at('d'))
      writeFileSync(Buffer.concat([Buffer.from(`${at('d/x')}`), Buffer.of(0xff)]), '')
    })
    expect((await room.collect({ globs: ['.*'] })).outputs.problem).toContain('has a reserved name')
    expect((await room.collect({ paths: ['d'] })).outputs.problem).toContain('not UTF-8')
  })

  test('a hard link is collected as a file, and its content once', async () => {
    using room = roomWith((at) => {
      writeFileSync(at('a'), 'same')
      linkSync(at('a'), at('b'))
    })
    const collected = await room.collect({ globs: ['?'] })
    expect(pathsOf(collected)).toEqual(['a', 'b'])
    expect(collected.blobs).toHaveLength(2) // the content and the directory
  })
})

test('an absolute symlink to a path where the command saw its room is followed inside the room', async () => {
  using room = roomWith((at) => {
    writeFileSync(at('out/a'), 'a')
    symlinkSync('/job/a', at('out/by-place'))
    symlinkSync('/room/out/a', at('out/by-room'))
    symlinkSync('/jobs/a', at('out/elsewhere'))
  })
  const places = [{ path: 'out', at: '/job', writable: true }]
  const links = { paths: ['by-place', 'by-room'], symlinks: 'follow' } as const
  expect(pathsOf(await room.collect(links, 'out', places))).toEqual(['by-place', 'by-room'])
  const stolen = await room.collect({ paths: ['elsewhere'], symlinks: 'follow' }, 'out', places)
  expect(stolen.outputs.problem).toBeDefined()
})
