import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isRemovedSmall } from './remove-small.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-remove-small-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let made = 0
const room = (): string => {
  const path = join(folder, `${++made}`)
  mkdirSync(join(path, 'root/out/deep'), { recursive: true })
  mkdirSync(join(path, 'tmp'))
  return path
}

test('a small tree is removed, and the targets of its symlinks are kept', async () => {
  const path = room()
  const outside = join(folder, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'kept'), 'x')
  writeFileSync(join(path, 'root/out/deep/file'), 'x')
  symlinkSync(outside, join(path, 'root/out/link'))
  symlinkSync('nowhere', join(path, 'tmp/broken'))
  expect(await isRemovedSmall(path)).toBe(true)
  expect(existsSync(path)).toBe(false)
  expect(readdirSync(outside)).toEqual(['kept'])
})

test('a tree of 40 files is left in place', async () => {
  const path = room()
  for (let i = 0; i < 40; i++) writeFileSync(join(path, `root/${i}`), '')
  expect(await isRemovedSmall(path)).toBe(false)
  expect(readdirSync(join(path, 'root'))).toHaveLength(41)
})

test('a tree with a name that is not UTF-8 is left in place', async () => {
  const path = room()
  writeFileSync(Buffer.concat([Buffer.from(`${path}/root/`), Buffer.from([0xff, 0xfe])]), '')
  expect(await isRemovedSmall(path)).toBe(false)
})

test('isRemovedSmall is false for a path that does not exist', async () => {
  expect(await isRemovedSmall(join(folder, 'none'))).toBe(false)
})
