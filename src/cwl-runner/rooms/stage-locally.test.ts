import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { commandTaskOf } from '../../model/command-task.ts'
import { layOut, type RoomItem } from '../../stagers/lay-out.ts'
import { fileAddress } from '../files/file-address.ts'
import { localFiles } from '../files/local-files.ts'
import { localStore } from './local-store.ts'
import { linkingStage } from './stage-locally.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-stage-')))
afterAll(() => rmSync(folder, { recursive: true }))
const [data, tree] = [join(folder, 'data.txt'), join(folder, 'tree')]
mkdirSync(join(tree, 'below'), { recursive: true })
for (const path of [data, join(tree, 'a'), join(tree, 'below/b')]) writeFileSync(path, 'data')
utimesSync(data, 1000, 1000)
let made = 0

async function roomWith(items: readonly RoomItem[], outputs: readonly string[] = []): Promise<string> {
  const root = join(folder, `room-${++made}`)
  mkdirSync(root)
  const store = localStore(localFiles(root))
  const stages = [{ name: 'run', argv: ['true'] }]
  const inputs = await layOut(items, store)
  const task = commandTaskOf({ stages, inputs, workingDirectory: 'out', outputs: { paths: outputs } })
  using _ = await linkingStage(store).stage(task, root, new AbortController().signal)
  return root
}

const file = (path: string, source: string, writable = false): RoomItem => ({
  kind: 'file',
  ...{ path, location: fileAddress(source), writable },
})
const directory = (path: string, source: string, writable = false): RoomItem => ({
  kind: 'tree',
  ...{ path, location: fileAddress(source), writable },
})

test('read-only inputs are symlinks, so that large files are not copied', async () => {
  const root = await roomWith([file('in/0/data.txt', data), directory('in/1/tree', tree)])
  expect(readlinkSync(`${root}/in/0/data.txt`)).toBe(data)
  expect(readlinkSync(`${root}/in/1/tree`)).toBe(tree)
})

test('writable inputs are copies with the mtime of the originals', async () => {
  const root = await roomWith([file('out/data.txt', data, true), directory('out/tree', tree, true)])
  expect(lstatSync(`${root}/out/data.txt`).mtimeMs).toBe(1_000_000)
  for (const name of ['data.txt', 'tree/a', 'tree/below/b']) {
    expect(lstatSync(`${root}/out/${name}`).isFile()).toBe(true)
    writeFileSync(`${root}/out/${name}`, 'changed')
  }
  expect([data, join(tree, 'below/b')].map((path) => readFileSync(path, 'utf8'))).toEqual(['data', 'data'])
})

test.each([10, 20_000])('a literal of %i bytes and the parent directories of outputs are created', async (length) => {
  const contents = 'x'.repeat(length)
  const root = await roomWith([{ kind: 'text', path: 'out/words', contents, writable: false }], ['logs/today/out'])
  expect(readFileSync(`${root}/out/words`, 'utf8')).toBe(contents)
  expect(lstatSync(`${root}/out/logs/today`).isDirectory()).toBe(true)
})

test('a file or an output directory behind a symlink to an input is refused', async () => {
  const text: RoomItem = { kind: 'text', path: 'out/tree/new', contents: '', writable: false }
  await expect(roomWith([directory('out/tree', tree), text])).rejects.toThrow('is not in the room')
  await expect(roomWith([directory('out/tree', tree)], ['tree/new/out'])).rejects.toThrow('is not in the room')
})

test('two inputs at one path, a missing input and an http: input are refused', async () => {
  await expect(roomWith([file('out/a', data), file('out/a', data)])).rejects.toThrow('two inputs have the path out/a')
  await expect(roomWith([directory('out/a', tree), file('out/a', data)])).rejects.toThrow('EEXIST')
  await expect(roomWith([file('out/a', join(folder, 'nothing'))])).rejects.toThrow('is not there')
  const remote: RoomItem = { kind: 'file', path: 'out/a', location: 'http://host/x', writable: false }
  await expect(roomWith([remote])).rejects.toMatchObject({ fault: { kind: 'invalid', why: 'unsupported' } })
})
