import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { Directory, FileNode } from '../../model/directory.ts'
import { type RunningTestServer, runningServer } from '../../testing/running-server.ts'
import { directoryToProto, treeToProto } from '../../wire/reapi/directory.ts'
import { type CasClient, casClient } from '../cas/cas-client.ts'
import type { TransferMeter } from '../cas/transfer-meter.ts'
import { connect } from '../connection/connect.ts'
import { rpcClient } from '../connection/rpc.ts'
import { parseTarget, type Target } from '../connection/target.ts'
import { downloadTree, type TreeDownloadOptions } from './tree-download.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-tree-'))
const unheard: TransferMeter = { found() {}, moved() {}, held() {} }
let server: RunningTestServer
let channel: ReturnType<typeof connect>
let client: CasClient
let ids = 0
const newId = () => `00000000-0000-4000-8000-${String(ids++).padStart(12, '0')}`

beforeAll(async () => {
  await prepareHashing()
  server = await runningServer(join(folder, 'data'))
  channel = connect(parseTarget(server.target) as Target, { clock: server.clock })
  const signal = new AbortController().signal
  client = casClient({ rpcs: rpcClient(channel), instance: '', fn: 'sha256', newId, signal })
})
afterAll(async () => {
  channel.close()
  await server.stop()
  rmSync(folder, { recursive: true })
})

async function put(bytes: Uint8Array): Promise<Digest> {
  const digest = digestOf('sha256', bytes)
  if (digest.size > 0) await client.updateMany([{ digest, data: bytes, compressor: 'identity' }])
  return digest
}

const EMPTY: Directory = { files: [], directories: [], symlinks: [], properties: undefined }
const putDirectory = (some: Partial<Directory>): Promise<Digest> => put(directoryToProto({ ...EMPTY, ...some }))
const file = async (name: string, text: string, more: Partial<FileNode> = {}): Promise<FileNode> => ({
  ...{ name, digest: await put(Buffer.from(text)), executable: false, properties: undefined },
  ...more,
})
const link = (name: string, target: string) => ({ name, target, properties: undefined })

let outs = 0
function get(digest: Digest, more: Partial<TreeDownloadOptions> & { from?: CasClient } = {}) {
  const { from = client, ...wish } = more
  const parent = join(folder, `out-${outs++}`)
  mkdirSync(parent)
  const path = join(parent, 'tree')
  const fetched = downloadTree(from, {
    ...{ digest, isTree: false, path, unsafeLinks: false, newId, meter: unheard },
    ...wish,
  })
  return { fetched, path, parent }
}

/** The download is refused, and leaves nothing behind. */
async function refused(digest: Digest, words: string, more: Parameters<typeof get>[1] = {}): Promise<void> {
  const { fetched, parent } = get(digest, more)
  await expect(fetched).rejects.toThrow(words)
  expect(readdirSync(parent)).toEqual([])
}

describe('tree download with invalid names', () => {
  test.each(['..', '.', '', 'a/b', '/etc/passwd', '../../x', 'a\0b'])('a file named %j is refused', async (name) => {
    await refused(await putDirectory({ files: [await file(name, 'x')] }), 'the server sent an invalid response')
  })

  test.each(['..', '/', 'a/../..'])('a directory named %j is refused', async (name) => {
    const child = await putDirectory({ files: [await file('x', 'x')] })
    await refused(await putDirectory({ directories: [{ name, digest: child }] }), 'the server sent an invalid response')
  })

  test.each(['..', '/tmp/x'])('a symlink named %j is refused', async (name) => {
    await refused(await putDirectory({ symlinks: [link(name, 'x')] }), 'the server sent an invalid response')
  })

  test('one name for a symlink and a file is refused: the file would be written through the symlink', async () => {
    const digest = await putDirectory({ symlinks: [link('a', '/tmp')], files: [await file('a', 'x')] })
    await refused(digest, 'comes twice', { unsafeLinks: true })
  })

  test('one name for a symlink and a directory is refused', async () => {
    const child = await putDirectory({ files: [await file('x', 'x')] })
    const digest = await putDirectory({ symlinks: [link('a', '/tmp')], directories: [{ name: 'a', digest: child }] })
    await refused(digest, 'comes twice', { unsafeLinks: true })
  })

  test('a malformed Directory message is refused', async () => {
    await refused(
      await put(Buffer.from([0x0a, 0xff, 0x01])),
      'the server sent an invalid response: malformed Directory',
    )
  })
})

describe('tree download with symlinks', () => {
  test.each(['/etc/passwd', '..', '../x', 'a/../..', './../x'])('a symlink to %s is refused', async (target) => {
    await refused(await putDirectory({ symlinks: [link('l', target)] }), '--unsafe-links creates it anyway')
  })

  test('a symlink to an absolute path is created with unsafeLinks', async () => {
    const { fetched, path } = get(await putDirectory({ symlinks: [link('l', '/etc/passwd')] }), { unsafeLinks: true })
    await fetched
    expect(readlinkSync(join(path, 'l'))).toBe('/etc/passwd')
  })

  test.each(['', 'a\0b'])('a symlink to %j is refused even with unsafeLinks', async (target) => {
    await refused(await putDirectory({ symlinks: [link('l', target)] }), 'leads nowhere', { unsafeLinks: true })
  })

  test('symlinks that stay in the tree are created', async () => {
    const child = await putDirectory({ symlinks: [link('up', '../file'), link('loop', 'loop')] })
    const digest = await putDirectory({ files: [await file('file', 'x')], directories: [{ name: 'd', digest: child }] })
    const { fetched, path } = get(digest)
    expect(await fetched).toEqual({ files: 1, directories: 1, symlinks: 2 })
    expect(readFileSync(join(path, 'd/up'), 'utf8')).toBe('x')
  })
})

describe('tree download over the limits', () => {
  /** A directory that contains the next one twice, `levels` deep, with one file at the end. */
  async function doubled(levels: number, fileSize = 1): Promise<Directory[]> {
    const digest = { ...(await put(Buffer.from('x'))), size: fileSize }
    const directories: Directory[] = [{ ...EMPTY, files: [await file('x', 'x', { digest })] }]
    for (let i = 0; i < levels; i++) {
      const below = digestOf('sha256', directoryToProto(directories[0] as Directory))
      const names = ['a', 'b'].map((name) => ({ name, digest: below }))
      directories.unshift({ ...EMPTY, directories: names })
    }
    return directories
  }
  const LIMITS = { mostEntries: 500, mostBytes: 1000 }

  test('a Tree of 9 KB that expands to 3.7e+27 entries is refused before anything is created', async () => {
    const [root = EMPTY, ...children] = await doubled(90)
    const bytes = treeToProto({ root, children })
    expect(bytes.length).toBeLessThan(16_000)
    const words = 'at least 3.7e+27 files, directories and symlinks, and the limit is 1000000: nothing was written'
    await refused(await put(bytes), words, { isTree: true })
  })

  test('Directories that exceed mostEntries are refused before anything is created', async () => {
    const directories = await doubled(60)
    const [root] = await Promise.all(directories.map((one) => put(directoryToProto(one))))
    await refused(root as Digest, '--max-entries raises the limit', { limits: LIMITS })
  })

  test('a Tree that exceeds mostBytes is refused before anything is created', async () => {
    const [root = EMPTY, ...children] = await doubled(4, 100)
    const digest = await put(treeToProto({ root, children }))
    await refused(digest, 'at least 1600 bytes, and the limit is 1000', { isTree: true, limits: LIMITS })
  })

  test('a Tree of exactly the limits is created', async () => {
    const [root = EMPTY, ...children] = await doubled(4)
    const digest = await put(treeToProto({ root, children }))
    const { fetched } = get(digest, { isTree: true, limits: { mostEntries: 46, mostBytes: 16 } })
    expect(await fetched).toEqual({ files: 16, directories: 30, symlinks: 0 })
  })
})

describe('tree download with missing blobs', () => {
  test('a missing file is an error with its digest', async () => {
    const ghost: Digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 7 }
    await refused(await putDirectory({ files: [await file('x', '', { digest: ghost })] }), formatDigest(ghost))
  })

  test('a missing directory is an error with its digest', async () => {
    const ghost: Digest = { fn: 'sha256', hash: 'cd'.repeat(32), size: 7 }
    const digest = await putDirectory({ directories: [{ name: 'd', digest: ghost }] })
    await refused(digest, `the server has no directory ${formatDigest(ghost)}`)
  })

  test('a directory digest of 1 TiB is refused as too large', async () => {
    const ghost: Digest = { fn: 'sha256', hash: 'ef'.repeat(32), size: 2 ** 40 }
    await refused(await putDirectory({ directories: [{ name: 'd', digest: ghost }] }), 'is too large for a directory')
  })

  test('a missing child of a Tree is an error', async () => {
    const child: Digest = { fn: 'sha256', hash: '12'.repeat(32), size: 7 }
    const root = { ...EMPTY, directories: [{ name: 'd', digest: child }] }
    await refused(await put(treeToProto({ root, children: [] })), 'the server has no tree', { isTree: true })
  })
})

describe('tree download from a server that sends wrong bytes', () => {
  test.each([1000, 600_000])('for a file of %i bytes is refused, and nothing is left', async (size) => {
    const digest = await put(Buffer.alloc(size, 'a'))
    const root = await putDirectory({ files: [await file('x', '', { digest })] })
    const wrong = Buffer.alloc(size, 'b')
    const liar: CasClient = {
      ...client,
      async readMany(digests) {
        const found = await client.readMany(digests)
        if (found.has(formatDigest(digest))) found.set(formatDigest(digest), wrong)
        return found
      },
      async *read() {
        yield wrong
      },
    }
    await refused(root, `the server sent other bytes for ${formatDigest(digest)}`, { from: liar })
  })

  test('for a directory is refused', async () => {
    const root = await putDirectory({ files: [await file('x', 'x')] })
    const other = directoryToProto({ ...EMPTY, symlinks: [link('l', 'm')] })
    const liar: CasClient = { ...client, readMany: async () => new Map([[formatDigest(root), other]]) }
    await refused(root, 'the server sent other bytes', { from: liar })
  })

  test('without end is stopped after the declared size', async () => {
    const digest = await put(Buffer.alloc(600_000, 'a'))
    const root = await putDirectory({ files: [await file('x', '', { digest })] })
    let sent = 0
    const liar: CasClient = {
      ...client,
      async *read() {
        for (;;) yield Buffer.alloc(++sent && 100_000)
      },
    }
    await refused(root, 'the server sent other bytes', { from: liar })
    expect(sent).toBe(7)
  })
})

describe('tree download, node properties', () => {
  const at = (seconds: number, unixMode?: number) => ({ named: [], mtime: { seconds, nanos: 500_000_000 }, unixMode })

  test('times and permissions of files, directories and symlinks are set from the tree', async () => {
    const child = await putDirectory({
      files: [await file('read-only', 'x', { properties: at(1000, 0o444) })],
      properties: at(2000, 0o555),
    })
    const digest = await putDirectory({
      files: [await file('run', 'x', { executable: true }), await file('plain', 'x')],
      directories: [{ name: 'd', digest: child }],
      symlinks: [{ ...link('l', 'run'), properties: at(3000) }],
    })
    const { fetched, path } = get(digest)
    await fetched
    const seen = (name: string) => lstatSync(join(path, name))
    expect([seen('d/read-only').mode & 0o7777, seen('d/read-only').mtimeMs]).toEqual([0o444, 1_000_500])
    expect([seen('d').mode & 0o7777, seen('d').mtimeMs]).toEqual([0o555, 2_000_500])
    expect(seen('l').mtimeMs).toBe(3_000_500)
    expect([seen('run').mode & 0o100, seen('plain').mode & 0o111]).toEqual([0o100, 0])
    chmodSync(join(path, 'd'), 0o755) // otherwise a user other than root cannot delete it
  })

  test('setuid and setgid bits are dropped', async () => {
    const digest = await putDirectory({ files: [await file('x', 'x', { properties: at(1000, 0o6755) })] })
    const { fetched, path } = get(digest)
    await fetched
    expect(lstatSync(join(path, 'x')).mode & 0o7777).toBe(0o755)
  })
})

test('tree download refuses a target that exists, except an empty directory', async () => {
  const digest = await putDirectory({ files: [await file('x', 'new')] })
  const full = join(folder, 'full')
  mkdirSync(full)
  writeFileSync(join(full, 'x'), 'old')
  await expect(get(digest, { path: full }).fetched).rejects.toThrow('is there already, and not empty')
  await expect(get(digest, { path: join(full, 'x') }).fetched).rejects.toThrow('is there already')
  expect(readFileSync(join(full, 'x'), 'utf8')).toBe('old')
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  await get(digest, { path: empty }).fetched
  expect(readFileSync(join(empty, 'x'), 'utf8')).toBe('new')
  expect(existsSync(join(folder, '.empty'))).toBe(false)
})
