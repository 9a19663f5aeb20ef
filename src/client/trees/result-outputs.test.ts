import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { ActionResult, OutputFile } from '../../model/action-result.ts'
import type { Directory } from '../../model/directory.ts'
import { type RunningTestServer, runningServer } from '../../testing/running-server.ts'
import { treeToProto } from '../../wire/reapi/directory.ts'
import { type CasClient, casClient } from '../cas/cas-client.ts'
import { connect } from '../connection/connect.ts'
import { rpcClient } from '../connection/rpc.ts'
import { parseTarget, type Target } from '../connection/target.ts'
import { changedOnly } from './changed-only.ts'
import { downloadOutputs, type OutputsOptions, outputPaths } from './result-outputs.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-outputs-'))
let server: RunningTestServer
let channel: ReturnType<typeof connect>
let client: CasClient
let ids = 0
const newId = () => `${String(ids++).padStart(8, '0')}-0000-4000-8000-000000000000`

beforeAll(async () => {
  await prepareHashing()
  server = await runningServer(join(folder, 'data'))
  channel = connect(parseTarget(server.target) as Target, { clock: server.clock })
  const { signal } = new AbortController()
  client = casClient({ rpcs: rpcClient(channel), instance: '', fn: 'sha256', newId, signal })
})
afterAll(async () => {
  channel.close()
  await server.stop()
  rmSync(folder, { recursive: true })
})

async function put(bytes: Uint8Array): Promise<Digest> {
  const digest = digestOf('sha256', bytes)
  await client.updateMany([{ digest, data: bytes, compressor: 'identity' }])
  return digest
}

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

const file = async (path: string, text: string, executable = false): Promise<OutputFile> => ({
  ...{ path, digest: await put(Buffer.from(text)), executable },
  ...{ contents: undefined, properties: undefined },
})
const link = (path: string, target: string) => ({ path, target, properties: undefined })
const EMPTY: Directory = { files: [], directories: [], symlinks: [], properties: undefined }

/** A directory of files and links, one level deep, as a Tree. */
async function directory(path: string, files: Record<string, string>, links: Record<string, string> = {}) {
  const root: Directory = {
    ...EMPTY,
    files: await Promise.all(
      Object.entries(files).map(async ([name, text]) => {
        const { digest, executable } = await file(name, text)
        return { name, digest, executable, properties: undefined }
      }),
    ),
    symlinks: Object.entries(links).map(([name, target]) => ({ name, target, properties: undefined })),
  }
  const treeDigest = await put(treeToProto({ root, children: [] }))
  return { path, treeDigest, rootDigest: undefined, topologicallySorted: false }
}

let outs = 0
function fetched(result: Partial<ActionResult>, wanted: readonly string[], more: Partial<OutputsOptions> = {}) {
  const into = more.into ?? join(folder, `out-${outs++}`)
  const done = downloadOutputs(client, {
    result: { ...NOTHING, ...result },
    requested: new Set(wanted),
    into,
    trim: (_, whole) => whole,
    unsafeLinks: false,
    newId,
    meter: { found() {}, moved() {}, held() {} },
    ...more,
  })
  done.catch(() => {})
  return { done, into }
}

const text = (...path: string[]): string => readFileSync(join(...path), 'utf8')

test('files, directories and symlinks are written to their paths, and parent directories are created', async () => {
  const { done, into } = fetched(
    {
      outputFiles: [await file('bin/tool', 'tool', true), await file('log', 'log')],
      outputDirectories: [await directory('lib/x', { a: '1' })],
      outputSymlinks: [link('latest', 'bin/tool')],
    },
    ['bin/tool', 'log', 'lib/x', 'latest', 'not/made'],
  )
  expect(await done).toEqual(new Set(['bin/tool', 'log', 'lib/x', 'latest']))
  expect([text(into, 'latest'), text(into, 'log'), text(into, 'lib/x/a')]).toEqual(['tool', 'log', '1'])
  expect(lstatSync(join(into, 'bin/tool')).mode & 0o100).toBe(0o100)
  expect(readdirSync(into).sort()).toEqual(['bin', 'latest', 'lib', 'log'])
})

test('symlinks in the legacy fields are written too, once each', async () => {
  const both = { outputSymlinks: [link('l', 'x')], legacyFileSymlinks: [link('l', 'x')] }
  await fetched(both, ['l']).done
  const { done, into } = fetched({ legacyFileSymlinks: [link('l', 'x')], legacyDirectorySymlinks: [link('m', 'y')] }, [
    'l',
    'm',
  ])
  await done
  expect(readdirSync(into).sort()).toEqual(['l', 'm'])
})

describe('download into a directory with content', () => {
  test('keeps files that no output replaces, and merges directories', async () => {
    const { into } = fetched({}, [])
    mkdirSync(join(into, 'lib'), { recursive: true })
    for (const name of ['mine', 'lib/mine', 'lib/old']) writeFileSync(join(into, name), 'mine')
    await fetched({ outputDirectories: [await directory('', { new: 'n' })] }, [''], { into }).done
    await fetched({ outputDirectories: [await directory('lib', { old: 'new' })] }, ['lib'], { into }).done
    expect(text(into, 'lib/mine')).toBe('mine')
    expect(text(into, 'lib/old')).toBe('new')
    expect(readdirSync(into).sort()).toEqual(['lib', 'mine', 'new'])
  })

  test('fails and changes nothing when an output path is a directory', async () => {
    const { into } = fetched({}, [])
    mkdirSync(join(into, 'b'), { recursive: true })
    writeFileSync(join(into, 'a'), 'mine')
    const files = [await file('a', 'theirs'), await file('b', 'theirs')]
    const { done } = fetched({ outputFiles: files }, ['a', 'b'], { into })
    await expect(done).rejects.toThrow(/\/b is in the way: it is a directory, unlike the output/)
    expect(text(into, 'a')).toBe('mine')
    expect(readdirSync(into).sort()).toEqual(['a', 'b'])
  })

  test('never writes through an existing symlink', async () => {
    const { into } = fetched({}, [])
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(into, { recursive: true })
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'f'), 'safe')
    symlinkSync(elsewhere, join(into, 'dir'))
    symlinkSync(join(elsewhere, 'f'), join(into, 'f'))
    const { done } = fetched({ outputFiles: [await file('dir/f', 'bad')] }, ['dir/f'], { into })
    await expect(done).rejects.toThrow(/dir is in the way: it is no directory/)
    await fetched({ outputFiles: [await file('f', 'good')] }, ['f'], { into }).done
    expect([text(elsewhere, 'f'), text(into, 'f'), lstatSync(join(into, 'f')).isFile()]).toEqual(['safe', 'good', true])
  })
})

describe('download from an untrusted server', () => {
  test.each(['../evil', '/evil', 'x/../../evil', 'other', 'out/', './out', 'out/x', ''])(
    'an output at %j that was not requested is refused',
    async (path) => {
      for (const result of [
        { outputFiles: [await file(path, 'evil')] },
        { outputDirectories: [await directory(path, { evil: 'evil' })] },
        { outputSymlinks: [link(path, 'x')] },
      ]) {
        const { done, into } = fetched(result, ['out'])
        await expect(done).rejects.toThrow('which was not requested')
        expect(existsSync(into)).toBe(false)
      }
      expect(existsSync(join(folder, 'evil'))).toBe(false)
    },
  )

  test('an output sent twice is refused', async () => {
    const result = { outputFiles: [await file('out', '1')], outputSymlinks: [link('out', '/etc/passwd')] }
    await expect(fetched(result, ['out']).done).rejects.toThrow('"out" twice')
  })

  test.each(['/etc/passwd', '../../x', 'a/../../x', ''])('a symlink to %j is refused', async (target) => {
    const { done, into } = fetched({ outputSymlinks: [link('out', target)] }, ['out'])
    await expect(done).rejects.toThrow(/the symlink "out" to/)
    expect(readdirSync(into)).toEqual([])
    const inTree = fetched({ outputDirectories: [await directory('out', {}, { evil: target || '/x' })] }, ['out'])
    await expect(inTree.done).rejects.toThrow(/the symlink "evil" to/)
    expect(readdirSync(inTree.into)).toEqual([])
  })

  test('an output whose blob is missing is refused, and nothing is written', async () => {
    const digest = { ...(await put(Buffer.from('right'))), hash: '0'.repeat(64) }
    const { done, into } = fetched({ outputFiles: [{ ...(await file('out', 'x')), digest }] }, ['out'])
    await expect(done).rejects.toThrow(/has no blob/)
    expect(readdirSync(into)).toEqual([])
  })
})

test('changedOnly leaves out files and symlinks that equal the inputs', async () => {
  const same = await file('same', 'same')
  const inputs: Directory = {
    ...EMPTY,
    files: [
      { name: 'same', digest: same.digest, executable: false, properties: undefined },
      { name: 'changed', digest: same.digest, executable: false, properties: undefined },
      { name: 'bit', digest: same.digest, executable: true, properties: undefined },
    ],
    symlinks: [
      { name: 'absolute', target: '/as/it/was', properties: undefined },
      { name: 'moved', target: 'same', properties: undefined },
    ],
  }
  const files = { same: 'same', changed: 'now', bit: 'same', made: 'new' }
  const whole = await directory('', files, { absolute: '/as/it/was', moved: 'made' })
  const trim = changedOnly(new Map([['', inputs]]))
  const { done, into } = fetched({ outputDirectories: [whole] }, [''], { trim })
  await done
  expect(readdirSync(into).sort()).toEqual(['bit', 'changed', 'made', 'moved'])
})

test('outputPaths normalises paths and drops those inside another; absolute and climbing paths are refused', () => {
  expect(outputPaths(['b/', './a', 'a', 'b//c', 'bb'])).toEqual(['a', 'b', 'bb'])
  expect(outputPaths(['.', 'a'])).toEqual([''])
  for (const [path, words] of [
    ['/a', 'is absolute'],
    ['a/../b', 'is ".."'],
    ['a\0', 'has a NUL in it'],
  ])
    expect(() => outputPaths([path as string])).toThrow(words)
})

test('outputs over the limits for entries or bytes together are refused before anything is created', async () => {
  const result = {
    outputFiles: [await file('log', 'x'.repeat(600))],
    outputDirectories: [await directory('a', { a: '1', b: '2' }), await directory('b', { a: '1', b: '2' })],
  }
  const wanted = ['log', 'a', 'b']
  const refused = async (limits: OutputsOptions['limits'] & object, words: string): Promise<void> => {
    const { done, into } = fetched(result, wanted, { limits })
    await expect(done).rejects.toThrow(words)
    expect(existsSync(into)).toBe(false)
  }
  await refused({ mostEntries: 4, mostBytes: 1000 }, 'at least 5 files, directories and symlinks, and the limit is 4')
  await refused({ mostEntries: 5, mostBytes: 603 }, 'at least 604 bytes, and the limit is 603')
  await fetched(result, wanted, { limits: { mostEntries: 5, mostBytes: 604 } }).done
})
