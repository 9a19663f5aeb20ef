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

test('is made with all above it, and may be there already', () => {
  const path = join(folder(), 'a', 'b')
  makeDataFolder(path)
  makeDataFolder(path)
  expect(statSync(path).mode & 0o777).toBe(0o711)
})

test('what is in the way is told with what to do about it', () => {
  const file = join(folder(), 'file')
  writeFileSync(file, '')
  const said = (why: string) =>
    expect.objectContaining({ message: expect.stringContaining(`${why}; choose another with --data`) })
  expect(() => makeDataFolder(file)).toThrow(said('what is no directory is in its place'))
  expect(() => makeDataFolder(join(file, 'below'))).toThrow(said('what is no directory is in its place'))
  expect(() => makeDataFolder('/proc/nothing')).toThrow(said('nothing can be made there'))
})
