import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { commandTaskOf } from '../../model/command-task.ts'
import { laidStep, stepRoom } from '../../services/workflows/driver/step-room.ts'
import { layOut } from '../../stagers/lay-out.ts'
import type { Staged } from '../../workflow/tool/room.ts'
import { fileAddress } from '../files/file-address.ts'
import { localFiles } from '../files/local-files.ts'
import { containerRoom } from './container-room.ts'
import { localStore } from './local-store.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-container-')))
afterAll(() => rmSync(folder, { recursive: true }))
const data = join(folder, 'data.txt')
const tree = join(folder, 'tree')
writeFileSync(data, 'data')
mkdirSync(tree)
const never = new AbortController().signal
let made = 0

async function roomWith(staged: readonly Staged[], changeable: readonly string[] = []) {
  const root = join(folder, `room-${++made}`)
  mkdirSync(root)
  const store = localStore(localFiles(root))
  const { items, places } = laidStep(stepRoom('/job'), staged, true)
  const inputs = await layOut(items, store)
  const task = commandTaskOf({ stages: [{ name: 'run', argv: ['true'] }], inputs, workingDirectory: 'out', places })
  const room = containerRoom(store, new Set(changeable))
  using filled = await room.inputs.stage(task, root, never)
  const mounts = filled.mounts?.map(({ source, at, writable }) => ({ source, at, writable }))
  return { root, mounts, settle: () => room.outputs.collect({ task, root }, never) }
}

test('inputs are mounted read-only, and texts and writable copies are placed in the room', async () => {
  const location = fileAddress(data)
  const { root, mounts } = await roomWith([
    { kind: 'file', path: '/room/in/1/data.txt', location, writable: false },
    { kind: 'tree', path: '/job/tree', location: fileAddress(tree), writable: false },
    { kind: 'file', path: '/job/copy.txt', location, writable: true },
    { kind: 'text', path: '/job/words', contents: 'words', writable: false },
    { kind: 'file', path: '/etc/tool.conf', location, writable: false },
  ])
  expect(mounts).toEqual([
    { source: tree, at: '/job/tree', writable: false },
    { source: data, at: '/room/in/1/data.txt', writable: false },
    { source: data, at: '/etc/tool.conf', writable: false },
  ])
  expect(['copy.txt', 'words'].map((name) => readFileSync(`${root}/out/${name}`, 'utf8'))).toEqual(['data', 'words'])
})

test('an input that the command may change in place is mounted writable', async () => {
  const staged: Staged = { kind: 'file', path: '/job/data.txt', location: fileAddress(data), writable: false }
  const { mounts } = await roomWith([staged], ['/job/data.txt'])
  expect(mounts).toEqual([{ source: data, at: '/job/data.txt', writable: true }])
})

test('after the command, symlinks to inputs are rewritten to paths of the machine', async () => {
  const { root, settle } = await roomWith([
    { kind: 'file', path: '/job/data.txt', location: fileAddress(data), writable: false },
    { kind: 'file', path: '/room/in/1/data.txt', location: fileAddress(data), writable: false },
  ])
  symlinkSync('/job/data.txt', `${root}/out/again`)
  symlinkSync('/room/in/1/data.txt', `${root}/out/input`)
  symlinkSync('/etc/passwd', `${root}/out/stolen`)
  await settle()
  expect(readlinkSync(`${root}/out/data.txt`)).toBe(data)
  expect(['again', 'input'].map((name) => readFileSync(`${root}/out/${name}`, 'utf8'))).toEqual(['data', 'data'])
  expect(readlinkSync(`${root}/out/stolen`)).toBe('/etc/passwd') // the collector does not follow it
})
