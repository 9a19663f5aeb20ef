import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stageSalt } from './stage-salt.ts'

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'windlass-salt-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('a server keeps its salt to itself, and has the same after a restart', () => {
  const dataDir = join(folder(), 'data')
  const salt = stageSalt(dataDir)
  expect(salt).toMatch(/^[0-9a-f]{64}$/)
  expect(stageSalt(dataDir)).toBe(salt)
  expect(readdirSync(dataDir).map((name) => statSync(join(dataDir, name)).mode & 0o777)).toEqual([0o600])
  expect(stageSalt(folder())).not.toBe(salt)
})

test('a file that holds something else is written anew', () => {
  const dataDir = folder()
  writeFileSync(join(dataDir, 'stage-cache.key'), 'short')
  const salt = stageSalt(dataDir)
  expect([salt.length, stageSalt(dataDir)]).toEqual([64, salt])
})
