import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serverSecret, stageSalt } from './server-secret.ts'

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'windlass-salt-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('a server has the same secret after a restart, in a file of mode 0600', () => {
  const dataDir = join(folder(), 'data')
  const secret = serverSecret(dataDir)
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  expect(serverSecret(dataDir)).toBe(secret)
  expect(readdirSync(dataDir).map((name) => statSync(join(dataDir, name)).mode & 0o777)).toEqual([0o600])
  expect(serverSecret(folder())).not.toBe(secret)
})

test('a secret file with other content is replaced', () => {
  const dataDir = folder()
  writeFileSync(join(dataDir, 'stage-cache.key'), 'short')
  const secret = serverSecret(dataDir)
  expect([secret.length, serverSecret(dataDir)]).toEqual([64, secret])
})

test('the salt for workers is not the secret', () => {
  const secret = serverSecret(folder())
  expect(stageSalt(secret)).toMatch(/^[0-9a-f]{64}$/)
  expect(stageSalt(secret)).not.toBe(secret)
})
