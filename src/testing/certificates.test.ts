import { spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createAuthority } from './certificates.ts'
import { testWith } from './require.ts'

test('a server certificate is valid for localhost, 127.0.0.1 and ::1', () => {
  const authority = createAuthority()
  const { cert, key } = authority.server()
  const server = new X509Certificate(cert)
  expect(server.checkIssued(new X509Certificate(authority.ca))).toBe(true)
  expect(server.verify(new X509Certificate(authority.ca).publicKey)).toBe(true)
  expect(server.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(server.checkHost('localhost')).toBe('localhost')
  expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(server.checkIP('::1')).toBe('::1')
  expect(server.checkHost('example.org')).toBeUndefined()
  expect(server.ca).toBe(false)
})

test('a client certificate has its name as CN, also with non-ASCII letters', () => {
  const { cert } = createAuthority().client('bâtisseur 7')
  expect(new X509Certificate(cert).toLegacyObject().subject.CN).toBe('bâtisseur 7')
})

test('a server certificate does not verify against another authority of the same name', () => {
  const server = new X509Certificate(createAuthority().server().cert)
  expect(server.verify(new X509Certificate(createAuthority().ca).publicKey)).toBe(false)
})

test('an authority certificate is valid now, for two days', () => {
  const { validFromDate, validToDate } = new X509Certificate(createAuthority().ca)
  expect(validFromDate.getTime()).toBeLessThan(Date.now())
  expect(validToDate.getTime()).toBeGreaterThan(Date.now())
  expect(validToDate.getTime() - validFromDate.getTime()).toBe(2 * 86_400_000)
})

testWith('openssl', 'openssl verifies the certificate chains of a server and a client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-certificates-'))
  try {
    const authority = createAuthority()
    writeFileSync(join(folder, 'ca'), authority.ca)
    writeFileSync(join(folder, 'server'), authority.server().cert)
    writeFileSync(join(folder, 'client'), authority.client('w1').cert)
    for (const [purpose, file] of [
      ['sslserver', 'server'],
      ['sslclient', 'client'],
    ] as const) {
      const verified = spawnSync('openssl', ['verify', '-CAfile', 'ca', '-purpose', purpose, file], { cwd: folder })
      expect(`${verified.stdout}`).toContain(`${file}: OK`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
