import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeDataFolder } from './data-folder.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'windlass-data-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('makeDataFolder creates the folder with its parents, and accepts an existing one', () => {
  const path = join(folder(), 'a', 'b')
  makeDataFolder(path)
  makeDataFolder(path)
  expect(statSync(path).mode & 0o777).toBe(0o711)
})

test('makeDataFolder fails with the reason and the flag that chooses another folder', () => {
  const file = join(folder(), 'file')
  writeFileSync(file, '')
  const said = (why: string) =>
    expect.objectContaining({ message: expect.stringContaining(`${why}; choose another with --data`) })
  expect(() => makeDataFolder(file)).toThrow(said('what is no directory is in its place'))
  expect(() => makeDataFolder(join(file, 'below'))).toThrow(said('what is no directory is in its place'))
  expect(() => makeDataFolder('/proc/nothing')).toThrow(said('nothing can be made there'))
})
