import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { builtRootfs, recordRootfs } from './built-rootfs.ts'

function folderOfTest(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-rootfs-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a root filesystem is found by its record, and has another mark after each build', () => {
  const folder = folderOfTest()
  for (const name of ['python@1', 'c++@1']) mkdirSync(join(folder, name))
  recordRootfs(folder, 'python', { path: 'python@1', made: '1', packages: ['python3_3.11'] })
  recordRootfs(folder, 'c++', { path: join(folder, 'c++@1'), made: '1', packages: [] })
  const first = builtRootfs(folder)
  expect([...first.keys()].sort()).toEqual(['c++', 'python'])
  expect(first.get('python')).toMatchObject({ path: join(folder, 'python@1'), packages: ['python3_3.11'] })
  recordRootfs(folder, 'python', { path: 'python@1', made: '2', packages: [] })
  expect(builtRootfs(folder).get('python')?.mark).not.toBe(first.get('python')?.mark)
})

test('unfinished, missing and damaged root filesystems are not found', () => {
  const folder = folderOfTest()
  mkdirSync(join(folder, 'python@1'))
  writeFileSync(join(folder, 'ruby.json'), '{"path":')
  writeFileSync(join(folder, 'file'), '')
  recordRootfs(folder, 'r', { path: 'nowhere', made: '1', packages: [] })
  recordRootfs(folder, 'php', { path: 'file', made: '1', packages: [] })
  expect(builtRootfs(folder).size).toBe(0)
  expect(builtRootfs(join(folder, 'nowhere')).size).toBe(0)
})
