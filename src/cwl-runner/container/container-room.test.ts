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
import type { Staged } from '../../workflow/tool/room.ts'
import type { ToolCommand } from '../../workflow/tool/tool-command.ts'
import { fileAddress } from '../files/file-address.ts'
import { localFiles } from '../files/local-files.ts'
import { containerPaths, openContainerRoom } from './container-room.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-container-')))
afterAll(() => rmSync(folder, { recursive: true }))
const data = join(folder, 'data.txt')
writeFileSync(data, 'data')
let made = 0

async function roomWith(staged: readonly Staged[]) {
  const base = join(folder, `room-${++made}`)
  const folders = { name: 'room', base, outdir: `${base}/out`, tmpdir: `${base}/tmp`, inputsDir: `${base}/in` }
  for (const one of [folders.outdir, folders.tmpdir, folders.inputsDir]) mkdirSync(one, { recursive: true })
  const command = { staged, room: containerPaths('/job'), inplaceUpdate: false } as unknown as ToolCommand
  return { base, room: await openContainerRoom(command, folders, localFiles(folder)) }
}

test('inputs are mounted to be read, texts and copies are in the room itself', async () => {
  const location = fileAddress(data)
  const { base, room } = await roomWith([
    { kind: 'file', path: '/var/lib/cwl/inputs/1/data.txt', location, writable: false },
    { kind: 'file', path: '/job/copy.txt', location, writable: true },
    { kind: 'text', path: '/job/words', contents: 'words', writable: false },
    { kind: 'text', path: '/etc/tool.conf', contents: 'conf', writable: false },
  ])
  expect(room.mounts.slice(3)).toEqual([
    { source: data, target: '/var/lib/cwl/inputs/1/data.txt', isWritable: false },
    { source: `${base}/elsewhere/etc/tool.conf`, target: '/etc/tool.conf', isWritable: false },
  ])
  expect(['copy.txt', 'words'].map((name) => readFileSync(`${base}/out/${name}`, 'utf8'))).toEqual(['data', 'words'])
  expect(room.onMachine('/var/lib/cwl/inputs/1/data.txt')).toBe(data)
  expect(room.onMachine('words')).toBe(`${base}/out/words`)
})

test('after the command, links lead where they led in the container', async () => {
  const { base, room } = await roomWith([
    { kind: 'file', path: '/job/data.txt', location: fileAddress(data), writable: false },
  ])
  symlinkSync('/job/data.txt', `${base}/out/again`)
  symlinkSync('/etc/passwd', `${base}/out/stolen`)
  room.settle()
  expect(readlinkSync(`${base}/out/data.txt`)).toBe(data)
  expect(readFileSync(`${base}/out/again`, 'utf8')).toBe('data')
  expect(readlinkSync(`${base}/out/stolen`)).toBe('/etc/passwd') // which the collector does not follow
})

test.each(['/', 'out', '/a/../etc', '/a/', ''])('%s is no output directory', (path) => {
  expect(() => containerPaths(path)).toThrow('dockerOutputDirectory')
})
